// SPDX-License-Identifier: MIT
#pragma once
/// The one-euro filter (Casiez, Roussel and Vogel, 2012): a low pass whose cutoff rises with the speed of the signal,
/// so what stands still does not tremble, and what moves does not lag.
///
///   one_euro_filter smooth({1.0F, 0.5F});        // 1 Hz at rest, half a hertz more for each unit per second
///   float steady = smooth(noisy, 1 / 60.0F);     // one number per frame, and the seconds since the one before
#include <cmath>
#include "vector.hpp"

namespace example {

struct one_euro_settings {
  float min_cutoff = 1;    ///< in hertz, at rest: lower is steadier
  float beta = 0.5F;       ///< hertz per unit per second: higher follows fast motion more closely
  float speed_cutoff = 1;  ///< in hertz, of the speed's own low pass
};

class one_euro_filter {
 public:
  explicit one_euro_filter(one_euro_settings settings = {}) : m_settings(settings) {}

  /// Returns the smoothed value. The first one is taken as it is; seconds must be positive.
  float operator()(float value, float seconds) {
    if (!m_begun) {
      m_begun = true;
      return m_last = m_value = value;
    }
    const float speed = (value - m_last) / seconds;
    m_last = value;
    m_speed += share(m_settings.speed_cutoff, seconds) * (speed - m_speed);
    const float cutoff = m_settings.min_cutoff + m_settings.beta * std::fabs(m_speed);
    return m_value += share(cutoff, seconds) * (value - m_value);
  }
  /// Forgets everything: after a cut, or when another person sits down.
  void reset() { *this = one_euro_filter(m_settings); }

 private:
  /// What a first-order low pass takes of a new value.
  static float share(float cutoff, float seconds) {
    const float r = 6.2831853F * cutoff * seconds;
    return r / (r + 1);
  }
  one_euro_settings m_settings;
  float m_value = 0, m_last = 0, m_speed = 0;
  bool m_begun = false;
};

/// The filter for rotations: the four numbers of the quaternion on the side of the last one, normalised afterwards.
class one_euro_rotation {
 public:
  explicit one_euro_rotation(one_euro_settings settings = {})
      : m_filters{one_euro_filter(settings), one_euro_filter(settings), one_euro_filter(settings),
                  one_euro_filter(settings)} {}

  rotation operator()(rotation r, float seconds) {
    if (r.w * m_last.w + r.x * m_last.x + r.y * m_last.y + r.z * m_last.z < 0) r = {-r.w, -r.x, -r.y, -r.z};
    r = {m_filters[0](r.w, seconds), m_filters[1](r.x, seconds), m_filters[2](r.y, seconds),
         m_filters[3](r.z, seconds)};
    const float n = std::sqrt(r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z);
    return m_last = {r.w / n, r.x / n, r.y / n, r.z / n};
  }
  void reset() {
    for (one_euro_filter& f : m_filters) f.reset();
  }

 private:
  one_euro_filter m_filters[4];
  rotation m_last;
};

}  // namespace example
