// SPDX-License-Identifier: MIT
#pragma once
/// What was played, to look at: a strip of some frames as PNG, all of them as GIF. What the camera saw is above or
/// beside the head.
#include <string>
#include <vector>
#include "avatar/gif.hpp"
#include "avatar/player.hpp"
#include "support/face_points.hpp"

namespace example {

/// The part of a photo around the face of all frames, square.
inline box shown_part(const clip& shown, const player& actor) {
  box all{1e9F, 1e9F, -1e9F, -1e9F};
  for (const played& p : actor.frames())
    for (std::size_t i = 0; p.seen && i < k_mesh_points; ++i)
      all = {std::min(all.left, p.points[i].x), std::min(all.top, -p.points[i].y), std::max(all.right, p.points[i].x),
             std::max(all.bottom, -p.points[i].y)};
  if (shown.images.empty()) {
    const float x = (all.left + all.right) / 2, y = (all.top + all.bottom) / 2;
    const float half = 0.55F * std::max(all.right - all.left, all.bottom - all.top);
    return {x - half, y - half, x + half, y + half};
  }
  const float width = static_cast<float>(shown.images[0].width), height = static_cast<float>(shown.images[0].height);
  if (all.left > all.right) return {0, 0, width, height};
  const float side = std::min({1.7F * std::max(all.right - all.left, all.bottom - all.top), width, height});
  const float left = std::clamp((all.left + all.right - side) / 2, 0.0F, width - side);
  const float top = std::clamp((all.top + all.bottom) / 2 - 0.54F * side, 0.0F, height - side);
  return {left, top, left + side, top + side};
}

/// What the camera saw, as large as the head; without an image the landmarks.
inline image camera_side(const clip& shown, const player& actor, std::size_t frame, const box& part) {
  const float scale = static_cast<float>(k_head_side) / (part.right - part.left);
  image out(k_head_side, k_head_side, {24, 30, 44});
  if (!shown.images.empty()) {
    const image& from = shown.images[frame];
    out = resize(crop(from, static_cast<int>(part.left), static_cast<int>(part.top),
                      static_cast<int>(part.right - part.left), static_cast<int>(part.bottom - part.top)),
                 k_head_side, k_head_side, filter::cubic);
  }
  const played& p = actor.frames()[frame];
  if (!p.seen) return out;
  std::vector<landmark> points;
  for (const vec3& at : p.points) points.push_back({scale * (at.x - part.left), scale * (-at.y - part.top), 0});
  if (shown.images.empty()) {
    draw_face(out, points);
  } else {
    draw_path(out, points, k_oval, true, 0.7, {235, 235, 235});
    for (const auto& brow : k_brows) draw_path(out, points, brow, false, 0.9, {255, 190, 60});
    draw_path(out, points, k_left_eye, true, 0.9, {70, 230, 110});
    draw_path(out, points, k_right_eye, true, 0.9, {70, 230, 110});
    draw_path(out, points, k_outer_lips, true, 0.9, {255, 80, 90});
    draw_path(out, points, k_inner_lips, true, 0.9, {255, 80, 90});
  }
  return out;
}

/// Writes six frames as a strip, and all as a GIF where a path is given.
inline void show(const clip& shown, const player& actor, const std::string& strip_path, const std::string& gif_path) {
  constexpr std::size_t columns = 6;
  const box part = shown_part(shown, actor);
  const std::size_t count = shown.count();
  image strip(static_cast<int>(columns) * k_head_side, 2 * k_head_side);
  std::vector<image> clip_frames;
  constexpr float times[columns] = {0.02F, 0.24F, 0.40F, 0.63F, 0.78F, 0.90F};
  for (std::size_t k = 0; k < columns; ++k) {
    const auto frame = static_cast<std::size_t>(times[k] * static_cast<float>(count - 1) + 0.5F);
    paste(strip, camera_side(shown, actor, frame, part), static_cast<int>(k) * k_head_side, 0);
    paste(strip, actor.rendered(frame), static_cast<int>(k) * k_head_side, k_head_side);
  }
  save_png(strip_path, strip);
  std::printf("%s", strip_path.c_str());
  for (std::size_t i = 0; i < count && !gif_path.empty(); ++i) {
    image& both = clip_frames.emplace_back(2 * k_head_side, k_head_side);
    paste(both, camera_side(shown, actor, i, part), 0, 0);
    paste(both, actor.rendered(i), k_head_side, 0);
  }
  if (!gif_path.empty()) {
    save_gif(gif_path, clip_frames, 3);
    std::printf(", %s", gif_path.c_str());
  }
  std::printf("\n");
}

}  // namespace example
