// SPDX-License-Identifier: MIT
#pragma once
/// Faces as text and as marks on a photo: what detect_faces and gpu_faces show.
#include <cstdio>
#include "support/detector.hpp"
#include "support/marks.hpp"

namespace example {

/// Draws the outline of a box, smooth.
inline void draw_box(image& p, const box& b, double width, color c) {
  const point corner[] = {{b.left, b.top}, {b.right, b.top}, {b.right, b.bottom}, {b.left, b.bottom}};
  for (int i = 0; i < 4; ++i) draw_line(p, corner[i], corner[(i + 1) % 4], width, c);
}

/// Prints a line per face and returns the photo with boxes, scores and keypoints.
inline image show_faces(const image& photo, const std::vector<detection>& faces) {
  image rendered = photo;
  const int thick = std::max(1, rendered.width / 250);
  for (const detection& f : faces) {
    const box& b = f.around;
    std::printf("face %.4f: (%.1f, %.1f) to (%.1f, %.1f); keypoints", f.score, b.left, b.top, b.right, b.bottom);
    draw_box(rendered, b, thick, {60, 230, 90});
    for (const point& k : f.keypoints) {
      std::printf(" (%.1f, %.1f)", k.x, k.y);
      draw_dot(rendered, k, 1.2 * thick + 0.8, {255, 70, 60});
    }
    std::printf("\n");
    char label[16];
    std::snprintf(label, sizeof label, "%.0f%%", f.score * 100);
    draw_text(rendered, static_cast<int>(b.left), static_cast<int>(b.top) - 8 * thick - thick, label, thick,
              {60, 230, 90});
  }
  return rendered;
}

}  // namespace example
