// SPDX-License-Identifier: MIT
#pragma once
/// Eight-bit RGB images: PNG and JPEG through stb, resampling, PSNR, and a few marks rendered on them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include <netsuke/image.hpp>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include "file.hpp"
#include "font.hpp"

namespace example {

struct color {
  std::uint8_t r = 0, g = 0, b = 0;
};

/// Rows of RGB pixels, top to bottom.
struct image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;

  image() = default;
  image(int w, int h, color c = {})
      : width(w), height(h), rgb(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * 3) {
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) set(x, y, c);
  }
  std::uint8_t* at(int x, int y) {
    return rgb.data() +
           3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x));
  }
  const std::uint8_t* at(int x, int y) const { return const_cast<image*>(this)->at(x, y); }
  /// Sets a pixel; outside the image nothing happens.
  void set(int x, int y, color c) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    std::uint8_t* p = at(x, y);
    p[0] = c.r;
    p[1] = c.g;
    p[2] = c.b;
  }
};

/// The pixels as the engine takes and gives them.
inline nsk::image_view view_of(const image& p) {
  return {p.rgb.data(), p.width, p.height, std::ptrdiff_t{3} * p.width, nsk::pixel_format::rgb8};
}
inline nsk::writable_image target_of(image& p) {
  return {p.rgb.data(), p.width, p.height, std::ptrdiff_t{3} * p.width, nsk::pixel_format::rgb8};
}

inline std::uint8_t to_byte(double v) { return static_cast<std::uint8_t>(std::clamp(std::nearbyint(v), 0.0, 255.0)); }

/// Reads a PNG, JPEG or binary PPM; ends the program when it cannot.
inline image load_image(const std::string& path) {
  image out;
  int channels = 0;
  std::uint8_t* pixels = stbi_load(path.c_str(), &out.width, &out.height, &channels, 3);
  if (pixels == nullptr) fail("cannot read the image " + path + ": " + stbi_failure_reason());
  out.rgb.assign(pixels, pixels + static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) * 3);
  stbi_image_free(pixels);
  return out;
}

/// Writes a PNG; ends the program when it cannot.
inline void save_png(const std::string& path, const image& p) {
  if (stbi_write_png(path.c_str(), p.width, p.height, 3, p.rgb.data(), p.width * 3) == 0) fail("cannot write " + path);
}

enum class filter { linear, cubic };

/// Weight of a filter at a distance from its centre: a triangle, or Keys' cubic with a = -1/2.
inline double weight(filter f, double x) {
  x = std::fabs(x);
  if (f == filter::linear) return std::max(0.0, 1 - x);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/// Resamples on half-pixel centres, edges repeated. When the image shrinks, the filter is widened so that every pixel
/// counts.
inline image resize(const image& in, int width, int height, filter f) {
  const auto along = [f](const std::vector<double>& src, int rows, int from, int to) {
    std::vector<double> dst(static_cast<std::size_t>(rows) * static_cast<std::size_t>(to) * 3);
    const double scale = static_cast<double>(from) / to;
    const double widen = std::max(scale, 1.0);
    const double reach = (f == filter::linear ? 1.0 : 2.0) * widen;
    for (int i = 0; i < to; ++i) {
      const double centre = (i + 0.5) * scale - 0.5;
      const int first = static_cast<int>(std::ceil(centre - reach));
      const int last = static_cast<int>(std::floor(centre + reach));
      double total = 0;
      for (int k = first; k <= last; ++k) total += weight(f, (k - centre) / widen);
      for (int k = first; k <= last; ++k) {
        const double w = weight(f, (k - centre) / widen) / total;
        const std::size_t source = static_cast<std::size_t>(std::clamp(k, 0, from - 1));
        for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
          for (std::size_t c = 0; c < 3; ++c)
            dst[(row * static_cast<std::size_t>(to) + static_cast<std::size_t>(i)) * 3 + c] +=
                w * src[(row * static_cast<std::size_t>(from) + source) * 3 + c];
      }
    }
    return dst;
  };
  const auto transpose = [](const std::vector<double>& src, int rows, int columns) {
    std::vector<double> dst(src.size());
    for (std::size_t y = 0; y < static_cast<std::size_t>(rows); ++y)
      for (std::size_t x = 0; x < static_cast<std::size_t>(columns); ++x)
        for (std::size_t c = 0; c < 3; ++c)
          dst[(x * static_cast<std::size_t>(rows) + y) * 3 + c] =
              src[(y * static_cast<std::size_t>(columns) + x) * 3 + c];
    return dst;
  };
  std::vector<double> values(in.rgb.begin(), in.rgb.end());
  values = transpose(along(values, in.height, in.width, width), in.height, width);
  values = transpose(along(values, width, in.height, height), width, height);
  image out(width, height);
  std::transform(values.begin(), values.end(), out.rgb.begin(), to_byte);
  return out;
}

/// Repeats every pixel `times` times in both directions.
inline image magnify(const image& in, int times) {
  image out(in.width * times, in.height * times);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) std::copy_n(in.at(x / times, y / times), 3, out.at(x, y));
  return out;
}

inline image crop(const image& in, int left, int top, int width, int height) {
  image out(width, height);
  for (int y = 0; y < height; ++y) std::copy_n(in.at(left, top + y), 3 * width, out.at(0, y));
  return out;
}

inline void paste(image& onto, const image& what, int left, int top) {
  for (int y = 0; y < what.height; ++y) std::copy_n(what.at(0, y), 3 * what.width, onto.at(left, top + y));
}

/// Peak signal-to-noise ratio in dB over all channels; both images have the same size.
inline double psnr(const image& a, const image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) sum += (a.rgb[i] - b.rgb[i]) * (a.rgb[i] - b.rgb[i]);
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.rgb.size()) / std::max(sum, 1e-9));
}

inline void draw_rectangle(image& p, int left, int top, int right, int bottom, int thickness, color c) {
  for (int t = 0; t < thickness; ++t) {
    for (int x = left - t; x <= right + t; ++x) {
      p.set(x, top - t, c);
      p.set(x, bottom + t, c);
    }
    for (int y = top - t; y <= bottom + t; ++y) {
      p.set(left - t, y, c);
      p.set(right + t, y, c);
    }
  }
}

inline void draw_disc(image& p, double cx, double cy, double radius, color c) {
  for (int y = static_cast<int>(cy - radius); y <= cy + radius; ++y)
    for (int x = static_cast<int>(cx - radius); x <= cx + radius; ++x)
      if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius) p.set(x, y, c);
}

/// Writes text with its upper left corner at (left, top); a letter is 6 x 8 dots of `dot` pixels. Returns the right
/// end.
inline int draw_text(image& p, int left, int top, const std::string& text, int dot, color c) {
  for (const char letter : text) {
    const glyph& g = glyph_of(letter);
    for (int y = 0; y < 7 * dot; ++y)
      for (int x = 0; x < 5 * dot; ++x)
        if ((g.rows[y / dot] >> (4 - x / dot)) & 1) p.set(left + x, top + y, c);
    left += 6 * dot;
  }
  return left;
}

}  // namespace example
