// SPDX-License-Identifier: MIT
#pragma once
/// A head that blendshape weights move: a face of 468 points in a rounder style with large eyes, and ellipsoids for all
/// that does not change its shape.
///
///   head avatar;                                  // 300 KB; the shapes are those of its own face
///   avatar.draw(to, weights, rotation, {0, 0});   // no allocation
#include "avatar/blendshapes.hpp"
#include "avatar/canvas.hpp"

namespace example {

class head {
 public:
  head() : m_shapes(styled().points) { paint(); }

  /// Draws the head with these weights, rotated, its middle moved by `offset` in millimetres.
  void draw(canvas& to, const float (&weights)[k_blendshapes], const rotation& rotate, vec3 offset) {
    m_rotate = rotate;
    m_scale = static_cast<float>(to.height()) / 262;
    m_middle = {static_cast<float>(to.width()) / 2 + m_scale * offset.x,
                static_cast<float>(to.height()) * 0.49F - m_scale * offset.y, 0};
    m_shapes.apply(weights, m_face);
    place_face();
    for (std::size_t t = 0; t < k_face_triangles; ++t)
      to.draw(m_vertices[k_face_mesh[3 * t]], m_vertices[k_face_mesh[3 * t + 1]], m_vertices[k_face_mesh[3 * t + 2]]);
    draw_brows(to);
    draw_eyes(to, weights);
    draw_mouth(to);
    draw_rest(to);
  }

 private:
  static constexpr vec3 k_skin{0.82F, 0.50F, 0.36F}, k_lips{0.66F, 0.22F, 0.20F}, k_blush{0.80F, 0.33F, 0.26F};
  static constexpr vec3 k_hair{0.16F, 0.065F, 0.035F}, k_shirt{0.12F, 0.30F, 0.34F}, k_lash{0.07F, 0.03F, 0.02F};
  static constexpr vec3 k_white{0.93F, 0.92F, 0.90F}, k_iris{0.10F, 0.34F, 0.30F}, k_dark{0.01F, 0.01F, 0.012F};
  static constexpr vec3 k_throat{0.16F, 0.02F, 0.02F};

  struct face {
    vec3 points[k_face_points];
  };
  static vec3 middle_of_eye(const vec3* face, int side) {
    vec3 sum;
    for (std::size_t k = 0; k < k_eye_outline; ++k) sum = sum + 1.0F / k_eye_outline * face[k_refined_eyes[side][k]];
    return sum;
  }
  /// The neutral face, lower and with a narrower jaw, a smaller nose and larger eyes.
  static face styled() {
    face f;
    neutral_face(f.points);
    const vec3 eyes[2] = {middle_of_eye(f.points, 0), middle_of_eye(f.points, 1)};
    for (vec3& p : f.points) {
      vec3 moved = p;
      for (const vec3& eye : eyes) {
        const vec3 d = p - eye;
        const float far = std::sqrt(d.x * d.x + d.y * d.y) / 34;
        if (far < 1) moved = moved + 0.42F * (1 - far * far) * (1 - far * far) * vec3{d.x, 1.35F * d.y, 0.1F * d.z};
      }
      const vec3 nose{0, -8, 90};
      const float near_nose = length(p - nose) / 34;
      if (near_nose < 1)
        moved = moved - 0.28F * (1 - near_nose * near_nose) * vec3{p.x, 0.6F * (p.y - nose.y), 0.9F * (p.z - 66)};
      const float low = std::clamp((-5 - p.y) / 80, 0.0F, 1.0F);
      p = {moved.x * (1 - 0.10F * low * low), 0.93F * moved.y, 0.92F * moved.z};
    }
    return f;
  }

  vec3 to_canvas(vec3 p) const {
    const vec3 q = m_scale * m_rotate(p);
    return {m_middle.x + q.x, m_middle.y - q.y, q.z};
  }
  static vec3 flip(vec3 normal) { return {normal.x, -normal.y, normal.z}; }

  void paint() {
    const vec3* neutral = m_shapes.neutral();
    for (std::size_t i = 0; i < k_face_points; ++i) {
      float blush = 0;
      for (const float side : {-1.0F, 1.0F}) {
        const float d = length(neutral[i] - vec3{side * 46, -8, 58}) / 26;
        blush = std::max(blush, d < 1 ? (1 - d * d) * 0.7F : 0);
      }
      m_vertices[i].color = k_skin + blush * (k_blush - k_skin);
    }
    for (std::size_t k = 0; k < 80; ++k)
      m_vertices[k_refined_lips[k]].color = k < 20 ? 0.45F * k_skin + 0.55F * k_lips : k_lips;
    for (const auto& eye : k_refined_eyes)
      for (std::size_t k = 0; k < k_eye_outline; ++k)
        m_vertices[eye[k]].color = k >= 9 || k == 0 ? k_lash : 0.6F * k_skin + 0.4F * k_lash;
  }

  void place_face() {
    for (vertex& v : m_vertices) v.normal = {};
    for (std::size_t t = 0; t < k_face_triangles; ++t) {
      const std::uint16_t* i = k_face_mesh + 3 * t;
      const vec3 n = cross(m_face[i[1]] - m_face[i[0]], m_face[i[2]] - m_face[i[0]]);
      for (int k = 0; k < 3; ++k) m_vertices[i[k]].normal = m_vertices[i[k]].normal + n;
    }
    for (std::size_t i = 0; i < k_face_points; ++i) {
      m_vertices[i].at = to_canvas(m_face[i]);
      m_vertices[i].normal = flip(m_rotate(normalized(m_vertices[i].normal)));
    }
  }

  void draw_brows(canvas& to) {
    for (std::size_t side = 0; side < 2; ++side) {
      vertex ribbon[2][5];
      for (std::size_t k = 0; k < 5; ++k)
        for (std::size_t edge = 0; edge < 2; ++edge) {
          const mesh_index i = k_brows[2 * side + edge][k];
          vertex& v = ribbon[edge][k] = m_vertices[i];
          v.at = to_canvas(m_face[i] + vec3{0, edge == 0 ? 0.5F : -0.5F, 2.5F});
          v.color = k_hair;
        }
      for (std::size_t k = 0; k < 4; ++k) {
        // The left brow is listed from the outside, the right one too: their directions differ.
        const vertex &a = ribbon[0][k], &b = ribbon[0][k + 1], &c = ribbon[1][k + 1], &d = ribbon[1][k];
        for (const bool back : {false, true}) {
          to.draw(back ? c : a, b, back ? a : c);
          to.draw(back ? d : a, c, back ? a : d);
        }
      }
    }
  }

  ellipsoid ball(vec3 at, vec3 radii, vec3 color, float gloss = 0.05F, float roll = 0) const {
    // The canvas's y points down, so rotations about x and z change their sign there.
    const rotation own = m_rotate * rotation_about({0, 0, 1}, roll);
    return {to_canvas(at), m_scale * radii, {own.w, -own.x, own.y, -own.z}, color, gloss, {}};
  }

  void draw_eyes(canvas& to, const float (&w)[k_blendshapes]) {
    for (int side = 0; side < 2; ++side) {
      const auto k = static_cast<std::size_t>(side);  // the right eye first
      const auto look = [&](blendshape left) { return w[index_of(left) + 1 - k]; };
      const float in = look(blendshape::eyeLookInLeft) - look(blendshape::eyeLookOutLeft);
      const float up = look(blendshape::eyeLookUpLeft) - look(blendshape::eyeLookDownLeft);
      const rotation gaze = rotation_of(-0.42F * up, (side == 0 ? 0.5F : -0.5F) * in, 0);
      const vec3 ahead = flip(m_rotate(gaze({side == 0 ? 0.05F : -0.05F, 0, 1})));
      const vec3 middle = middle_of_eye(m_shapes.neutral(), side);
      ellipsoid eye = ball(middle + vec3{0, 0, -20.5F}, {21, 21, 20}, k_white, 0.9F);
      eye.spots[0] = {ahead, k_dark, 0.855F};
      eye.spots[1] = {ahead, k_iris, 0.875F};
      eye.spots[2] = {ahead, k_dark, 0.965F};
      to.draw(eye);
    }
  }

  /// A dark bag behind the lips, upper teeth, and a tongue behind the lower lip.
  void draw_mouth(canvas& to) {
    constexpr std::size_t count = std::size(k_inner_lips);
    vec3 middle;
    for (const mesh_index i : k_inner_lips) middle = middle + 1.0F / count * m_face[i];
    vertex rim[count], wall[count], back;
    const auto place = [&](vertex& v, vec3 at, vec3 color) { v = {to_canvas(at), {0, 0, 1}, color}; };
    place(back, middle - vec3{0, 0, 20}, k_dark);
    for (std::size_t k = 0; k < count; ++k) {
      const vec3 lip = m_face[k_inner_lips[k]];
      place(rim[k], lip - vec3{0, 0, 0.5F}, k_throat);
      place(wall[k], lip - vec3{0, 0, 19}, 0.6F * k_throat);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t next = (k + 1) % count;
      to.draw(rim[k], rim[next], wall[next], 0);
      to.draw(rim[k], wall[next], wall[k], 0);
      to.draw(wall[k], wall[next], back, 0);
    }
    const vec3 upper = m_shapes.neutral()[k_lip_middle], lower = m_face[k_inner_lower_lip];
    to.draw(ball(upper + vec3{0, 1.5F, -14}, {16, 5.5F, 9}, k_white, 0.4F));
    to.draw(ball(lower + vec3{0, 0.5F, -14}, {12, 5, 10}, {0.50F, 0.11F, 0.13F}, 0.2F));
  }

  /// What keeps its shape: skull, ears and hair rotate with the face, neck and shoulders do not.
  void draw_rest(canvas& to) {
    to.draw(ball({0, -14, -10}, {62, 66, 44}, k_skin));
    for (const float side : {-1.0F, 1.0F}) {
      to.draw(ball({side * 70, 4, -8}, {9, 17, 11}, k_skin));
      to.draw(ball({side * 64, 34, 2}, {15, 34, 40}, k_hair, 0.25F));
      to.draw(ball({side * 34, 66, 34}, {44, 19, 38}, k_hair, 0.25F, side * -0.42F));
    }
    to.draw(ball({0, 24, -24}, {77, 74, 66}, k_hair, 0.25F));
    to.draw(ball({-14, 78, 36}, {50, 18, 40}, k_hair, 0.25F, 0.22F));
    const rotation rotate = m_rotate;
    m_rotate = {};
    to.draw(ball({0, -96, -16}, {34, 52, 34}, 0.86F * k_skin));
    to.draw(ball({0, -176, -22}, {122, 62, 60}, k_shirt, 0.03F));
    m_rotate = rotate;
  }

  blendshapes m_shapes;
  vec3 m_face[k_face_points];
  vertex m_vertices[k_face_points];
  rotation m_rotate;
  vec3 m_middle;
  float m_scale = 1;
};

}  // namespace example
