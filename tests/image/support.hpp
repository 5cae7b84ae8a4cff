// SPDX-License-Identifier: MIT
#pragma once
/// Images for tests, and what image_to_tensor should make of them: plain loops in double precision, from the
/// definition of each setting.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>
#include <netsuke/image.hpp>

namespace images {

/// A small generator with the same numbers everywhere.
class random {
 public:
  explicit random(std::uint32_t seed) : m_state(seed * 2654435761u + 1u) {}
  std::uint32_t bits() {
    m_state ^= m_state << 13;
    m_state ^= m_state >> 17;
    m_state ^= m_state << 5;
    return m_state;
  }
  int between(int low, int high) { return low + static_cast<int>(bits() % static_cast<std::uint32_t>(high - low + 1)); }
  bool coin() { return between(0, 1) == 1; }
  /// A multiple of 1/16.
  float real(int low, int high) { return static_cast<float>(between(16 * low, 16 * high)) / 16; }
  template <class E>
  E one_of(int count) {
    return static_cast<E>(between(0, count - 1));
  }

 private:
  std::uint32_t m_state;
};

/// FNV-1a over bytes.
class digest {
 public:
  void add(const void* p, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) m_hash = (m_hash ^ static_cast<const unsigned char*>(p)[i]) * 1099511628211u;
  }
  std::uint64_t value() const { return m_hash; }

 private:
  std::uint64_t m_hash = 14695981039346656037u;
};

/// An image that ends exactly where its heap block ends.
class owned {
 public:
  /// `gap`: bytes between the rows. Bottom-up rows have a negative stride.
  owned(int width, int height, nsk::pixel_format format, int gap = 0, bool bottom_up = false)
      : m_row(width * nsk::pixel_bytes(format) + gap),
        m_size(static_cast<std::size_t>((height - 1) * m_row + width * nsk::pixel_bytes(format))),
        m_bytes(new std::uint8_t[m_size]()) {
    const int first = bottom_up ? (height - 1) * m_row : 0;
    m_view = {m_bytes.get() + first, width, height, bottom_up ? -m_row : m_row, format};
  }
  nsk::image_view view() const { return {m_view.pixels, m_view.width, m_view.height, m_view.stride, m_view.format}; }
  nsk::writable_image target() { return m_view; }
  std::size_t size() const { return m_size; }
  std::uint8_t* bytes() { return m_bytes.get(); }
  std::uint8_t* pixel(int x, int y) { return m_view.pixels + y * m_view.stride + x * nsk::pixel_bytes(m_view.format); }
  void fill_random(random& r) {
    for (std::size_t i = 0; i < m_size; ++i) m_bytes[i] = static_cast<std::uint8_t>(r.bits() >> 11);
  }

 private:
  std::ptrdiff_t m_row;
  std::size_t m_size;
  std::unique_ptr<std::uint8_t[]> m_bytes;
  nsk::writable_image m_view;
};

/// Letters of a pixel's bytes or a tensor's channels: 'y' is grey.
inline const char* letters(nsk::pixel_format f) {
  const char* names[] = {"rgba", "bgra", "rgb", "bgr", "y"};
  return names[static_cast<int>(f)];
}
inline const char* letters(nsk::channel_order o) {
  const char* names[] = {"y", "rgb", "bgr", "rgba", "bgra"};
  return names[static_cast<int>(o)];
}

/// Value of the channel `wanted` of a colour whose channels are named by `names`.
inline double channel_of(const double* color, const char* names, char wanted) {
  if (const char* found = std::strchr(names, wanted)) return color[found - names];
  if (wanted == 'a') return 255;
  if (names[0] == 'y') return color[0];
  return 0.299 * channel_of(color, names, 'r') + 0.587 * channel_of(color, names, 'g') +
         0.114 * channel_of(color, names, 'b');
}

/// Level of byte c at a place in pixel centres, edges repeated.
inline double level_at(const nsk::image_view& p, double x, double y, int c) {
  x = std::clamp(x, 0.0, p.width - 1.0);
  y = std::clamp(y, 0.0, p.height - 1.0);
  const auto byte = [&](double column, double row) {
    const int i = std::min(static_cast<int>(column), p.width - 1), k = std::min(static_cast<int>(row), p.height - 1);
    return static_cast<double>(p.pixels[k * p.stride + i * nsk::pixel_bytes(p.format) + c]);
  };
  const double left = std::floor(x), top = std::floor(y), u = x - left, v = y - top;
  return (1 - v) * ((1 - u) * byte(left, top) + u * byte(left + 1, top)) +
         v * ((1 - u) * byte(left, top + 1) + u * byte(left + 1, top + 1));
}

struct expected {
  std::vector<double> values;
  std::vector<bool> sure;  ///< false where a centre is on an edge, so that rounding decides
};

/// Distance of a number from the nearest end of [0, size].
inline double from_ends(double x, double size) { return std::min(std::fabs(x), std::fabs(x - size)); }

/// What a tensor of height x width should hold.
inline expected tensor_of(const nsk::image_view& p, const nsk::image_settings& how, int height, int width) {
  nsk::image_region region = how.region;
  if (region.whole) region = {false, p.width / 2.0f, p.height / 2.0f, float(p.width), float(p.height), 0};
  double rw = region.width, rh = region.height, left = 0, top = 0, cw = width, ch = height;
  if (how.fit == nsk::image_fit::crop) {
    const double zoom = std::max(width / rw, height / rh);
    rw = width / zoom;
    rh = height / zoom;
  } else if (how.fit == nsk::image_fit::letterbox) {
    const double zoom = std::min(width / rw, height / rh);
    cw = rw * zoom;
    ch = rh * zoom;
    left = std::ceil((width - cw) / 2 - 0.5 - 1e-9);
    top = std::ceil((height - ch) / 2 - 0.5 - 1e-9);
  }
  const char *have = letters(p.format), *want = letters(how.order);
  const int channels = nsk::channel_count(how.order), bytes = nsk::pixel_bytes(p.format);
  expected result;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const double u = column + 0.5 - left, v = row + 0.5 - top;
      const double across = ((how.mirrored ? 1 - u / cw : u / cw) - 0.5) * rw, down = (v / ch - 0.5) * rh;
      const double x = region.centre_x + across * std::cos(region.angle) - down * std::sin(region.angle),
                   y = region.centre_y + across * std::sin(region.angle) + down * std::cos(region.angle);
      const bool off_region = u < 0 || u >= cw || v < 0 || v >= ch,
                 off_image = x < 0 || x >= p.width || y < 0 || y >= p.height;
      const bool filled = off_region || (off_image && how.edge == nsk::image_edge::fill);
      result.sure.push_back(
          from_ends(u, cw) > 1e-9 && from_ends(v, ch) > 1e-9 &&
          (how.edge == nsk::image_edge::repeat || std::min(from_ends(x, p.width), from_ends(y, p.height)) > 1e-4));
      double color[4];
      for (int c = 0; c < bytes; ++c) color[c] = level_at(p, x - 0.5, y - 0.5, c);
      for (int c = 0; c < channels; ++c) {
        const double level = filled ? how.fill[c] : channel_of(color, have, want[c]);
        result.values.push_back(level * how.scale.scale[c] + how.scale.offset[c]);
      }
    }
  return result;
}

/// A block of floats with a NaN that no computation makes before, in and after it.
class guarded_floats {
 public:
  explicit guarded_floats(std::size_t n) : m_memory(n + 2 * margin, untouched()), m_size(n) {}
  nsk::span<float> span() { return {m_memory.data() + margin, m_size}; }
  float* data() { return m_memory.data() + margin; }
  std::size_t bytes() const { return m_size * sizeof(float); }
  bool written(std::size_t i) const {
    const float canary = untouched();
    return std::memcmp(&m_memory[margin + i], &canary, 4) != 0;
  }
  /// Nothing outside was written, and everything inside was.
  bool intact() const {
    const float canary = untouched();
    for (std::size_t i = 0; i < m_memory.size(); ++i) {
      const bool inside = i >= margin && i < margin + m_size;
      if (inside != (std::memcmp(&m_memory[i], &canary, 4) != 0)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t margin = 40;
  static float untouched() {
    const std::uint32_t bits = 0x7fc0dea1u;
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  }
  std::vector<float> m_memory;
  std::size_t m_size;
};

}
