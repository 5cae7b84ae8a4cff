// SPDX-License-Identifier: MIT
#pragma once
/// The points of MediaPipe's pose landmark model, where they are on its heat maps, and a body made of them.
#include "support/marks.hpp"

namespace example {

inline constexpr std::size_t k_joints = 33;       ///< of a body
inline constexpr std::size_t k_body_points = 39;  ///< of the network: the others are for itself
inline constexpr std::size_t k_body_numbers = 5;  ///< of a point: x, y, z, and how sure it is seen, and in the image
inline constexpr int k_heat = 64;                 ///< side of the maps of where a point may be

/// Nose 0, eyes 1 to 6, ears 7 and 8, mouth 9 and 10; from here on left is odd and right even: shoulders 11, elbows 13,
/// wrists 15, hands 17 to 22, hips 23, knees 25, ankles 27, heels 29, toes 31.
inline constexpr bone k_head_bones[] = {{0, 1}, {1, 2}, {2, 3}, {3, 7}, {0, 4}, {4, 5}, {5, 6}, {6, 8}, {9, 10}};
inline constexpr bone k_trunk_bones[] = {{11, 12}, {12, 24}, {24, 23}, {23, 11}};
inline constexpr bone k_left_bones[] = {{11, 13}, {13, 15}, {15, 17}, {15, 19}, {15, 21}, {17, 19},
                                        {23, 25}, {25, 27}, {27, 29}, {29, 31}, {27, 31}};
inline constexpr bone k_right_bones[] = {{12, 14}, {14, 16}, {16, 18}, {16, 20}, {16, 22}, {18, 20},
                                         {24, 26}, {26, 28}, {28, 30}, {30, 32}, {28, 32}};

/// Puts a point, in pixels of the network's input, where its heat map has its centre of gravity, in a window of 7 x 7
/// cells around it; not where no cell is warmer than one half. (RefineLandmarksFromHeatmap.)
inline point refined(point p, nsk::span<const float> heat, std::size_t index, int size) {
  const float cells = static_cast<float>(k_heat) / static_cast<float>(size);
  if (!(p.x * cells > -1 && p.y * cells > -1 && p.x * cells < k_heat && p.y * cells < k_heat)) return p;
  const int column = static_cast<int>(p.x * cells), row = static_cast<int>(p.y * cells);
  float sum = 0, x = 0, y = 0, warmest = 0;
  for (int r = std::max(0, row - 3); r < std::min(k_heat, row + 4); ++r)
    for (int c = std::max(0, column - 3); c < std::min(k_heat, column + 4); ++c) {
      const float warmth = sigmoid(heat[static_cast<std::size_t>(r * k_heat + c) * k_body_points + index]);
      sum += warmth;
      x += warmth * static_cast<float>(c);
      y += warmth * static_cast<float>(r);
      warmest = std::max(warmest, warmth);
    }
  if (warmest < 0.5F) return p;
  return {x / sum / cells, y / sum / cells};
}

/// Draws the joints i of which in_sight(i) holds, and the bones between them.
template <class InSight>
void draw_body(image& to, const std::vector<landmark>& joints, InSight&& in_sight) {
  const box around = box_around(joints);
  const double thick = std::max(1.5, std::max(around.right - around.left, around.bottom - around.top) / 170.0);
  draw_bones(to, joints, k_head_bones, 0.6 * thick, {240, 240, 240}, in_sight);
  draw_bones(to, joints, k_trunk_bones, thick, {240, 240, 240}, in_sight);
  draw_bones(to, joints, k_left_bones, thick, {255, 165, 60}, in_sight);
  draw_bones(to, joints, k_right_bones, thick, {70, 190, 255}, in_sight);
  for (std::size_t i = 11; i < k_joints; ++i)
    if (in_sight(i)) draw_dot(to, flat(joints[i]), 1.3 * thick, {255, 255, 255});
}

}  // namespace example
