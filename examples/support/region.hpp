// SPDX-License-Identifier: MIT
#pragma once
/// Square, rotated regions of an image: how MediaPipe's graphs choose them, and how a network is shown one.
#include <algorithm>
#include <cmath>
#include <vector>
#include "support/image.hpp"

namespace example {

using point = nsk::image_point;  ///< pixels of the image, x to the right, y down

struct box {
  float left = 0, top = 0, right = 0, bottom = 0;
};

/// Returns the direction from one point to another, in radians, clockwise on the screen from the x axis.
inline float direction(point from, point to) { return std::atan2(to.y - from.y, to.x - from.x); }

/// Returns the angle that turns a region's up to the direction from one point to another: pi / 2 more, as up is -y.
inline float upright(point from, point to) { return direction(from, to) + 1.57079633F; }

/// Returns the square region around a box: moved along its own axes by a share of the box's height, as long as the
/// box's longer side, scaled, rotated. (DetectionsToRects and RectTransformation with square_long.)
inline nsk::image_region region_around(const box& b, float angle, float scale, float shift_y = 0) {
  const float width = b.right - b.left, height = b.bottom - b.top;
  const float side = scale * std::max(width, height), along = shift_y * height;
  const float x = (b.left + b.right) / 2 - std::sin(angle) * along;
  const float y = (b.top + b.bottom) / 2 + std::cos(angle) * along;
  return nsk::image_region::rotated(x, y, side, side, angle);
}

/// Returns the square region with its middle at a point and its upper side through another one, scaled.
/// (AlignmentPointsRects.)
inline nsk::image_region region_about(point middle, point top, float scale) {
  const float side = scale * 2 * std::hypot(top.x - middle.x, top.y - middle.y);
  return nsk::image_region::rotated(middle.x, middle.y, side, side, upright(middle, top));
}

/// Returns the upright box around points.
template <class Points>
box box_around(const Points& points) {
  box b{points[0].x, points[0].y, points[0].x, points[0].y};
  for (const auto& p : points)
    b = {std::min(b.left, p.x), std::min(b.top, p.y), std::max(b.right, p.x), std::max(b.bottom, p.y)};
  return b;
}

/// One of the images of a pyramid, and how a tensor is read from it: settings in its pixels, the map in the photo's.
struct pyramid_level {
  const image& pixels;
  nsk::image_settings how;
  nsk::image_map map;
};

/// An image, its half, the half of that: image_to_tensor samples four pixels whatever the distance, so a region that
/// shrinks to less than half is read from a copy in which every pixel has counted.
class pyramid {
 public:
  explicit pyramid(image photo) {
    m_levels.push_back(std::move(photo));
    while (std::min(m_levels.back().width, m_levels.back().height) >= 64) m_levels.push_back(halved(m_levels.back()));
  }
  const image& photo() const { return m_levels[0]; }

  /// Returns the level that a tensor of height x width is read from, and the settings in pixels of it. `how` is in
  /// pixels of the photo, as is the map.
  pyramid_level choose(nsk::image_settings how, int height, int width) const {
    const nsk::image_map map = nsk::map_image(view_of(photo()), how, height, width);
    const affine& a = map.image_from_tensor;
    const double step = std::max(std::hypot(a.xx, a.yx), std::hypot(a.xy, a.yy));
    std::size_t level = 0;
    float scale = 1;
    for (; level + 1 < m_levels.size() && step * scale >= 2; ++level) scale /= 2;
    if (how.region.whole)
      how.region =
          nsk::image_region::rectangle(0, 0, static_cast<float>(photo().width), static_cast<float>(photo().height));
    for (float* length : {&how.region.centre_x, &how.region.centre_y, &how.region.width, &how.region.height})
      *length *= scale;
    return {m_levels[level], how, map};
  }
  /// Fills a tensor of height x width x 3 and returns the map between it and the photo. Settings are in pixels of the
  /// photo.
  nsk::image_map read(const nsk::image_settings& how, nsk::span<float> tensor, int height, int width) const {
    const pyramid_level from = choose(how, height, width);
    nsk::image_to_tensor(view_of(from.pixels), from.how, tensor, height, width);
    return from.map;
  }

 private:
  using affine = nsk::affine;
  /// Means of four pixels, rounded; an odd last row or column is left out.
  static image halved(const image& in) {
    image out(in.width / 2, in.height / 2);
    for (int y = 0; y < out.height; ++y)
      for (int x = 0; x < out.width; ++x)
        for (int c = 0; c < 3; ++c) {
          const std::uint8_t *upper = in.at(2 * x, 2 * y) + c, *lower = in.at(2 * x, 2 * y + 1) + c;
          out.at(x, y)[c] = static_cast<std::uint8_t>((upper[0] + upper[3] + lower[0] + lower[3] + 2) / 4);
        }
    return out;
  }
  std::vector<image> m_levels;
};

}  // namespace example
