// SPDX-License-Identifier: MIT
#pragma once
/// MediaPipe's face mesh on an image: the net between all points, and over it what a face has.
#include "support/face_net.hpp"
#include "support/marks.hpp"
#include "support/mesh_points.hpp"

namespace example {

template <std::size_t N>
void draw_path(image& p, const std::vector<landmark>& points, const mesh_index (&path)[N], bool closed, double width,
               color c) {
  for (std::size_t i = closed ? 0 : 1; i < N; ++i)
    draw_line(p, flat(points[path[i == 0 ? N - 1 : i - 1]]), flat(points[path[i]]), width, c);
}

/// Draws the net between all points, and over it what a face has.
inline void draw_face(image& p, const std::vector<landmark>& points) {
  const double unit = std::hypot(points[454].x - points[234].x, points[454].y - points[234].y);
  const double fine = std::max(0.5, unit / 260), thick = std::max(1.0, unit / 130);
  for (std::size_t i = 0; i < k_net_lines; ++i)
    draw_line(p, flat(points[k_net[2 * i]]), flat(points[k_net[2 * i + 1]]), fine, {225, 240, 255}, 0.5);
  draw_path(p, points, k_oval, true, thick, {235, 235, 235});
  for (const auto& brow : k_brows) draw_path(p, points, brow, false, thick, {255, 190, 60});
  draw_path(p, points, k_left_eye, true, thick, {70, 230, 110});
  draw_path(p, points, k_right_eye, true, thick, {70, 230, 110});
  draw_path(p, points, k_outer_lips, true, thick, {255, 80, 90});
  draw_path(p, points, k_inner_lips, true, thick, {255, 80, 90});
  if (points.size() < k_mesh_points + 2 * k_iris_points) return;
  for (const auto& iris : k_irises) draw_path(p, points, iris, true, thick, {80, 200, 255});
}

}  // namespace example
