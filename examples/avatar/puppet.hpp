// SPDX-License-Identifier: MIT
#pragma once
/// A photo of a face made to move: the mesh over the face is moved by weights and a rotation, and the photo with it.
/// For clips without a camera; the network looks at what comes out as at any frame.
///
///   puppet actor(photo, points, solver);      // after solver.calibrate(points, true)
///   image frame = actor.act(performance(0.3F));
#include <cstddef>
#include <cstdint>
#include "avatar/blendshape_solver.hpp"
#include "avatar/performance.hpp"
#include "support/region.hpp"
#include "support/mesh_points.hpp"

namespace example {

class puppet {
 public:
  puppet(const image& photo, const vec3* points, blendshape_solver& solver)
      : m_photo(photo), m_shapes(solver.shapes()) {
    m_pose = solver.solve(points, true).pose;
    for (std::size_t i = 0; i < k_face_points; ++i) m_from[i] = flat_of(m_pose(m_shapes.neutral()[i]));
    point middle = m_from[k_nose];
    for (std::size_t ring = 0; ring < k_rings; ++ring)
      for (std::size_t k = 0; k < k_around; ++k) {
        const point p = m_from[k_oval[k]];
        m_from[outside(ring, k)] = {middle.x + k_reach[ring] * (p.x - middle.x),
                                    middle.y + k_reach[ring] * (p.y - middle.y)};
      }
  }

  /// Returns the photo with the face as it is at that moment.
  image act(const moment& m) const {
    vec3 face[k_face_points], still[k_face_points];
    m_shapes.apply(m.weights, face);
    std::copy(m_shapes.neutral(), m_shapes.neutral() + k_face_points, still);
    head_pose pose = m_pose;
    pose.rotate = m.rotate * pose.rotate;
    point to[k_points];
    for (std::size_t i = 0; i < k_face_points; ++i) to[i] = flat_of(pose(face[i]));
    // What is around the face follows its outline, less the farther it is away; the last ring stays.
    for (std::size_t ring = 0; ring < k_rings; ++ring)
      for (std::size_t k = 0; k < k_around; ++k) {
        const point now = flat_of(pose(still[k_oval[k]])), before = m_from[k_oval[k]], p = m_from[outside(ring, k)];
        to[outside(ring, k)] = {p.x + k_follow[ring] * (now.x - before.x), p.y + k_follow[ring] * (now.y - before.y)};
      }
    image out = m_photo;
    for (std::size_t ring = k_rings; ring-- > 0;) draw_ring(out, to, ring);
    draw_mouth(out, to, pose.scale);
    for (std::size_t side = 0; side < 2; ++side) draw_eye(out, to, side);
    for (std::size_t t = 0; t < k_face_triangles; ++t)
      warp(out, to, k_face_mesh[3 * t], k_face_mesh[3 * t + 1], k_face_mesh[3 * t + 2]);
    return out;
  }

 private:
  static constexpr std::size_t k_nose = 4, k_around = std::size(k_oval), k_rings = 2;
  static constexpr float k_reach[k_rings] = {1.45F, 2.4F}, k_follow[k_rings] = {0.9F, 0};
  static constexpr std::size_t k_points = k_face_points + k_rings * k_around;

  static point flat_of(vec3 p) { return {p.x, -p.y}; }
  static std::size_t outside(std::size_t ring, std::size_t k) { return k_face_points + ring * k_around + k % k_around; }

  void draw_ring(image& out, const point* to, std::size_t ring) const {
    for (std::size_t k = 0; k < k_around; ++k) {
      const std::size_t a = ring == 0 ? k_oval[k] : outside(0, k),
                        b = ring == 0 ? k_oval[(k + 1) % k_around] : outside(0, k + 1);
      warp(out, to, a, outside(ring, k), outside(ring, k + 1));
      warp(out, to, a, outside(ring, k + 1), b);
    }
  }
  /// The eyeball stretches with its outline and its middle follows the iris.
  void draw_eye(image& out, const point* to, std::size_t side) const {
    const mesh_index* outline = side == 0 ? k_right_eye : k_left_eye;
    const std::size_t iris = k_mesh_points + side * k_iris_points;
    for (std::size_t k = 0; k < std::size(k_left_eye); ++k)
      warp(out, to, outline[k], outline[(k + 1) % std::size(k_left_eye)], iris);
  }
  /// Between the lips is what the photo has there; below that, where they part farther, teeth if none were seen, and
  /// the dark.
  void draw_mouth(image& out, const point* to, float scale) const {
    constexpr std::size_t count = std::size(k_inner_lips), half = count / 2;
    const auto between = [](point a, point b, float share) {
      return point{a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
    };
    for (std::size_t k = 0; k < half; ++k) {  // columns from the right corner to the left one
      const std::size_t lower[2] = {k_inner_lips[k], k_inner_lips[k + 1]};
      const std::size_t upper[2] = {k_inner_lips[(count - k) % count], k_inner_lips[count - k - 1]};
      const float left = to[upper[0]].x, width = to[upper[1]].x - left;
      for (int x = static_cast<int>(left); width > 0 && static_cast<float>(x) <= left + width; ++x) {
        const float share = std::clamp((static_cast<float>(x) + 0.5F - left) / width, 0.0F, 1.0F);
        const float top = between(to[upper[0]], to[upper[1]], share).y,
                    bottom = between(to[lower[0]], to[lower[1]], share).y;
        const point photo_top = between(m_from[upper[0]], m_from[upper[1]], share);
        const float seen = between(m_from[lower[0]], m_from[lower[1]], share).y - photo_top.y;
        for (int y = std::max(0, static_cast<int>(top)); static_cast<float>(y) <= bottom && y < out.height; ++y) {
          const float deep = static_cast<float>(y) + 0.5F - top;
          const bool teeth = seen < 0.03F * scale * 90 && deep < 5.5F * scale;
          out.set(x, y, teeth ? color{214, 205, 196} : color{46, 14, 16});
          if (deep < seen && x >= 0 && x < out.width)
            sample(out.at(x, y), photo_top.x - 0.5F, photo_top.y + deep - 0.5F);
        }
      }
    }
  }

  /// Fills a triangle of `out` with what the photo has in the same triangle before it moved.
  void warp(image& out, const point* to, std::size_t a, std::size_t b, std::size_t c) const {
    const point p = to[a], q = to[b], r = to[c], from = m_from[a];
    const float area = (q.x - p.x) * (r.y - p.y) - (r.x - p.x) * (q.y - p.y);
    if (std::fabs(area) < 1e-3F) return;
    const point along{m_from[b].x - from.x, m_from[b].y - from.y}, across{m_from[c].x - from.x, m_from[c].y - from.y};
    const int top = std::max(0, static_cast<int>(std::min({p.y, q.y, r.y}) - 0.5F));
    const int bottom = std::min(out.height - 1, static_cast<int>(std::max({p.y, q.y, r.y}) + 0.5F));
    const int left = std::max(0, static_cast<int>(std::min({p.x, q.x, r.x}) - 0.5F));
    const int right = std::min(out.width - 1, static_cast<int>(std::max({p.x, q.x, r.x}) + 0.5F));
    for (int y = top; y <= bottom; ++y)
      for (int x = left; x <= right; ++x) {
        const float dx = static_cast<float>(x) + 0.5F - p.x, dy = static_cast<float>(y) + 0.5F - p.y;
        const float u = (dx * (r.y - p.y) - dy * (r.x - p.x)) / area, v = (dy * (q.x - p.x) - dx * (q.y - p.y)) / area;
        if (u < -0.001F || v < -0.001F || u + v > 1.001F) continue;
        sample(out.at(x, y), from.x + u * along.x + v * across.x - 0.5F, from.y + u * along.y + v * across.y - 0.5F);
      }
  }
  void sample(std::uint8_t* to, float x, float y) const {
    x = std::clamp(x, 0.0F, static_cast<float>(m_photo.width) - 1.001F);
    y = std::clamp(y, 0.0F, static_cast<float>(m_photo.height) - 1.001F);
    const int column = static_cast<int>(x), row = static_cast<int>(y);
    const float u = x - static_cast<float>(column), v = y - static_cast<float>(row);
    for (int c = 0; c < 3; ++c) {
      const auto at = [&](int dx, int dy) { return static_cast<float>(m_photo.at(column + dx, row + dy)[c]); };
      const float upper = at(0, 0) + u * (at(1, 0) - at(0, 0)), lower = at(0, 1) + u * (at(1, 1) - at(0, 1));
      to[c] = to_byte(static_cast<double>(upper + v * (lower - upper)));
    }
  }

  const image& m_photo;
  const blendshapes& m_shapes;
  head_pose m_pose;
  point m_from[k_points];
};

}  // namespace example
