// SPDX-License-Identifier: MIT
#pragma once
/// Smooth lines and dots on an image.
#include <cstddef>
#include <cstdint>
#include "support/vision.hpp"

namespace example {

/// Mixes a share in [0, 1] of a colour into a pixel; outside the image nothing happens.
inline void blend(image& p, int x, int y, color c, double share) {
  if (x < 0 || y < 0 || x >= p.width || y >= p.height || share <= 0) return;
  std::uint8_t* to = p.at(x, y);
  const std::uint8_t from[3] = {c.r, c.g, c.b};
  for (int k = 0; k < 3; ++k) to[k] = to_byte(to[k] + (from[k] - to[k]) * share);
}

/// Draws a line with round ends; a pixel takes the share of the colour that the line covers of it.
inline void draw_line(image& p, point a, point b, double width, color c, double opacity = 1) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy, reach = width / 2 + 1;
  const auto first = [&](float one, float other) {
    return static_cast<int>(std::max(-1.0, std::min(one, other) - reach));
  };
  const auto last = [&](float one, float other, int size) {
    return static_cast<int>(std::min<double>(size, std::max(one, other) + reach));
  };
  for (int y = first(a.y, b.y); y <= last(a.y, b.y, p.height); ++y)
    for (int x = first(a.x, b.x); x <= last(a.x, b.x, p.width); ++x) {
      const double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
      const double along = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0, 1.0) : 0;
      const double distance = std::hypot(px - along * dx, py - along * dy);
      blend(p, x, y, c, opacity * std::clamp(width / 2 + 0.5 - distance, 0.0, 1.0));
    }
}

inline void draw_dot(image& p, point at, double radius, color c, double opacity = 1) {
  draw_line(p, at, at, 2 * radius, c, opacity);
}

/// Two points that a line joins, by their numbers.
struct bone {
  std::uint16_t from, to;
};
/// Draws the bones of which shown(point) holds at both ends.
template <std::size_t N, class Shown>
void draw_bones(image& p, const std::vector<landmark>& points, const bone (&bones)[N], double width, color c,
                Shown&& shown) {
  for (const bone& b : bones)
    if (shown(b.from) && shown(b.to)) draw_line(p, flat(points[b.from]), flat(points[b.to]), width, c);
}

}  // namespace example
