// SPDX-License-Identifier: MIT
#pragma once
/// Photos of people side by side, swaying: frames in which several people move, for those who have no camera.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>
#include "support/image.hpp"
#include "support/region.hpp"

namespace example {

/// Where a pixel of a photo is on the stage.
struct sway {
  point from, to;  ///< the photo's middle, there and on the stage
  float scale = 1, angle = 0;

  point operator()(point p) const {
    const float c = scale * std::cos(angle), s = scale * std::sin(angle), x = p.x - from.x, y = p.y - from.y;
    return {to.x + c * x - s * y, to.y + s * x + c * y};
  }
  point inverse(point p) const {
    const float c = std::cos(angle) / scale, s = std::sin(angle) / scale, x = p.x - to.x, y = p.y - to.y;
    return {from.x + c * x + s * y, from.y - s * x + c * y};
  }
};

class stage {
 public:
  static constexpr int k_side = 320;  ///< of the square that a photo has

  explicit stage(const std::vector<image>& photos) : m_photos(photos) {}
  int width() const { return k_side * static_cast<int>(m_photos.size()); }
  int height() const { return k_side; }

  /// How a photo stands at a time in seconds.
  sway at(std::size_t photo, float seconds) const {
    const image& p = m_photos[photo];
    const float own = static_cast<float>(photo), side = k_side;
    const point middle{static_cast<float>(p.width) / 2, static_cast<float>(p.height) / 2};
    const float fit = side / static_cast<float>(std::min(p.width, p.height));
    return {
        middle,
        {side * (own + 0.5F) + 14 * std::sin(2.1F * seconds + own), side / 2 + 8 * std::sin(3.1F * seconds + 2 * own)},
        fit * (1 + 0.08F * std::sin(1.7F * seconds + 3 * own)),
        0.14F * std::sin(2.6F * seconds + own)};
  }

  image frame(float seconds) const {
    image out(width(), height());
    for (std::size_t k = 0; k < m_photos.size(); ++k) {
      const sway place = at(k, seconds);
      for (int y = 0; y < k_side; ++y)
        for (int x = static_cast<int>(k) * k_side; x < static_cast<int>(k + 1) * k_side; ++x)
          sample(m_photos[k], place.inverse({static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F}),
                 out.at(x, y));
    }
    return out;
  }

 private:
  /// Bilinear; outside, the photo's edge goes on.
  static void sample(const image& p, point at, std::uint8_t* to) {
    const float x = std::clamp(at.x - 0.5F, 0.0F, static_cast<float>(p.width) - 1.001F);
    const float y = std::clamp(at.y - 0.5F, 0.0F, static_cast<float>(p.height) - 1.001F);
    const int column = static_cast<int>(x), row = static_cast<int>(y);
    const float u = x - static_cast<float>(column), v = y - static_cast<float>(row);
    for (int c = 0; c < 3; ++c) {
      const auto level = [&](int dx, int dy) { return static_cast<float>(p.at(column + dx, row + dy)[c]); };
      const float upper = level(0, 0) + u * (level(1, 0) - level(0, 0)),
                  lower = level(0, 1) + u * (level(1, 1) - level(0, 1));
      to[c] = to_byte(static_cast<double>(upper + v * (lower - upper)));
    }
  }
  const std::vector<image>& m_photos;
};

}  // namespace example
