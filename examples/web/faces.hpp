// SPDX-License-Identifier: MIT
#pragma once
/// Boxes of MediaPipe's face detector for 128 x 128 pixels, in fixed memory.
#include <netsuke/image.hpp>

namespace web {

/// A face in pixels of the image; `score` is a logit. Right eye, left eye, nose tip, mouth, right ear, left ear.
struct face {
  float score, left, top, right, bottom;
  float keypoints[12];
};

/// Collects candidates and thins them out.
class face_finder {
 public:
  static constexpr int max_faces = 32;

  /// Finds the faces in the outputs: scores and boxes of two anchors for each cell of 8 pixels, then of six for each
  /// cell of 16. Logits below `minimum` are no faces; `map` leads to the image. Returns how many there are, best first.
  int find(const float* fine_scores, const float* fine_boxes, const float* coarse_scores, const float* coarse_boxes,
           const nsk::image_map& map, float minimum) {
    m_count = 0;
    collect(fine_scores, fine_boxes, 8, 2, map, minimum);
    collect(coarse_scores, coarse_boxes, 16, 6, map, minimum);
    return m_count;
  }
  const face* faces() const { return m_faces; }

 private:
  static constexpr int size = 128, numbers = 16;

  void collect(const float* scores, const float* boxes, int stride, int anchors, const nsk::image_map& map,
               float minimum) {
    const int cells = size / stride;
    for (int i = 0; i < cells * cells * anchors; ++i) {
      if (scores[i] < minimum) continue;
      const int cell = i / anchors;
      const float x = (static_cast<float>(cell % cells) + 0.5F) * static_cast<float>(stride),
                  y = (static_cast<float>(cell / cells) + 0.5F) * static_cast<float>(stride);
      add(decode(boxes + i * numbers, scores[i], x, y, map));
    }
  }

  static face decode(const float* raw, float score, float x, float y, const nsk::image_map& map) {
    const float middle_x = x + raw[0], middle_y = y + raw[1], half_w = raw[2] / 2, half_h = raw[3] / 2;
    const nsk::image_point a = map.to_image(middle_x - half_w, middle_y - half_h),
                           b = map.to_image(middle_x + half_w, middle_y + half_h);
    face f{score, a.x, a.y, b.x, b.y, {}};
    for (int k = 0; k < 6; ++k) {
      const nsk::image_point p = map.to_image(x + raw[4 + 2 * k], y + raw[5 + 2 * k]);
      f.keypoints[2 * k] = p.x;
      f.keypoints[2 * k + 1] = p.y;
    }
    return f;
  }

  /// The shared area of two boxes as a share of what they cover together.
  static float overlap(const face& a, const face& b) {
    const auto area = [](const face& f) { return (f.right - f.left) * (f.bottom - f.top); };
    const float left = a.left > b.left ? a.left : b.left, right = a.right < b.right ? a.right : b.right,
                top = a.top > b.top ? a.top : b.top, bottom = a.bottom < b.bottom ? a.bottom : b.bottom;
    if (right <= left || bottom <= top) return 0;
    const float both = (right - left) * (bottom - top);
    return both / (area(a) + area(b) - both);
  }

  /// Keeps the best of faces that overlap, in the order of their scores.
  void add(const face& f) {
    int kept = 0;
    for (int i = 0; i < m_count; ++i) {
      const bool same = overlap(m_faces[i], f) > 0.3F;
      if (same && m_faces[i].score >= f.score) return;
      if (!same) m_faces[kept++] = m_faces[i];
    }
    m_count = kept;
    if (m_count == max_faces) return;
    int place = m_count++;
    for (; place > 0 && m_faces[place - 1].score < f.score; --place) m_faces[place] = m_faces[place - 1];
    m_faces[place] = f;
  }

  face m_faces[max_faces];
  int m_count = 0;
};

}  // namespace web
