// SPDX-License-Identifier: MIT
#pragma once
/// How the movements of blendshapes.hpp are made: by rules over groups of landmarks of a neutral face. Most are pushes:
/// the points of some parts of the face near a landmark follow it, less the farther they are from it. Lids, irises and
/// the jaw have rules of their own. Everything is written for the person's left and mirrored.
#include <algorithm>
#include "blendshapes.hpp"
#include "../support/mesh_points.hpp"

namespace example {
namespace impl {

/// What a point belongs to; a push names those that follow.
enum part : unsigned {
  upper_lip = 1,
  lower_lip = 2,
  lip_corner = 4,
  lips = upper_lip | lower_lip | lip_corner,
  eye_lids = 8,  ///< the two rings next to the eye
  brow = 16,     ///< what is above the eyes
  cheek = 32,    ///< between eyes and mouth, with the nose
  chin = 64,     ///< below the corners of the mouth
  iris = 128,
};

/// Points of `parts` within `reach` millimetres of a landmark move with it, by (1 - (distance / reach)^2)^2 of `move`.
struct push {
  blendshape shape;
  unsigned parts;
  mesh_index landmark;
  float reach;
  vec3 move;
};

inline constexpr push k_pushes[] = {
    {blendshape::browInnerUp, brow, 336, 30, {0, 7, 0.5F}},
    {blendshape::browInnerUp, brow, 107, 30, {0, 7, 0.5F}},
    {blendshape::browOuterUpLeft, brow, 283, 30, {0, 7, 0}},
    {blendshape::browDownLeft, brow, 295, 32, {-2, -5.5F, 1}},
    {blendshape::cheekPuff, cheek | chin, 432, 34, {6, 0, 5}},
    {blendshape::cheekPuff, cheek | chin, 212, 34, {-6, 0, 5}},
    {blendshape::cheekSquintLeft, cheek, 330, 26, {0, 4.5F, 2}},
    {blendshape::mouthFunnel, upper_lip, 0, 34, {0, 3.5F, 5}},
    {blendshape::mouthFunnel, lower_lip, 17, 34, {0, -4.5F, 5}},
    {blendshape::mouthFunnel, cheek, 0, 30, {0, 1, 2.5F}},
    {blendshape::mouthFunnel, chin, 17, 26, {0, -2, 2.5F}},
    {blendshape::mouthPucker, lips, 13, 40, {0, 0, 6}},
    {blendshape::mouthPucker, cheek | chin, 13, 34, {0, 0, 4}},
    {blendshape::mouthLeft, lips | cheek | chin, 13, 46, {8, 0, 0}},
    {blendshape::mouthSmileLeft, lips | cheek | chin, 291, 30, {6, 8, -3}},
    {blendshape::mouthSmileLeft, cheek, 425, 26, {1, 3.5F, 1.5F}},
    {blendshape::mouthFrownLeft, lips | cheek | chin, 291, 26, {1, -7.5F, -1}},
    {blendshape::mouthDimpleLeft, lips | cheek | chin, 291, 20, {4, 0.5F, -4}},
    {blendshape::mouthStretchLeft, lips | cheek | chin, 291, 30, {7, -4, -3}},
    {blendshape::mouthShrugLower, lower_lip | chin, 17, 30, {0, 5, 2}},
    {blendshape::mouthShrugUpper, upper_lip | cheek, 0, 24, {0, 4, 2}},
    {blendshape::mouthPressLeft, upper_lip, 269, 18, {0, -2, -1.5F}},
    {blendshape::mouthPressLeft, lower_lip | chin, 405, 18, {0, 2.5F, -1.5F}},
    {blendshape::mouthLowerDownLeft, lower_lip | chin, 405, 20, {1, -7, 0}},
    {blendshape::mouthUpperUpLeft, upper_lip | cheek, 269, 20, {1, 6, 0.5F}},
    {blendshape::noseSneerLeft, cheek, 278, 20, {1, 4.5F, -0.5F}},
};

inline float smooth_step(float t) {
  t = std::clamp(t, 0.0F, 1.0F);
  return t * t * (3 - 2 * t);
}

/// Returns the shape of the other side; a shape without a side is its own.
inline blendshape mirrored(blendshape shape) {
  if (shape == blendshape::jawLeft) return blendshape::jawRight;
  if (shape == blendshape::mouthLeft) return blendshape::mouthRight;
  const char* name = k_blendshape_names[index_of(shape)];
  while (*name != '\0' && !(name[0] == 'L' && name[1] == 'e' && name[2] == 'f' && name[3] == 't')) ++name;
  return *name != '\0' ? static_cast<blendshape>(index_of(shape) + 1) : shape;
}

/// Fills in the movements of one face.
class rule_maker {
 public:
  using table = float[k_face_points][3][k_blendshapes];
  rule_maker(const vec3* neutral, table& to) : m_neutral(neutral), m_to(to) {
    find_parts();
    for (const push& p : k_pushes) follow(p);
    move_eye();
    move_jaw();
    narrow_mouth();
    roll_lips();
    mirror();
  }

 private:
  void add(std::size_t point, blendshape shape, vec3 move) {
    m_to[point][0][index_of(shape)] += move.x;
    m_to[point][1][index_of(shape)] += move.y;
    m_to[point][2][index_of(shape)] += move.z;
  }
  vec3 movement(std::size_t point, blendshape shape) const {
    const std::size_t k = index_of(shape);
    return {m_to[point][0][k], m_to[point][1][k], m_to[point][2][k]};
  }

  void find_parts() {
    const float eye = m_neutral[k_left_corner].y, mouth = m_neutral[k_left_mouth_corner].y;
    for (std::size_t i = 0; i < k_face_points; ++i) {
      const float y = m_neutral[i].y;
      m_part[i] = i >= k_mesh_points ? iris : (y > eye + 5 ? brow : (y > mouth ? cheek : chin));
    }
    for (std::size_t ring = 0; ring < 4; ++ring)
      for (std::size_t k = 0; k < 20; ++k)
        m_part[k_refined_lips[20 * ring + k]] = k == 0 || k == 10 ? lip_corner : (k < 10 ? lower_lip : upper_lip);
    for (const auto& eye_points : k_refined_eyes)
      for (std::size_t k = 0; k < 32; ++k) m_part[eye_points[k]] = eye_lids;
  }

  void follow(const push& p) {
    for (std::size_t i = 0; i < k_face_points; ++i) {
      if ((m_part[i] & p.parts) == 0) continue;
      const float d = length(m_neutral[i] - m_neutral[p.landmark]) / p.reach;
      if (d < 1) add(i, p.shape, (1 - d * d) * (1 - d * d) * p.move);
    }
  }

  /// A lid's points go along the line to their partners on the other lid; the rings around follow.
  void lids(blendshape shape, float upper_share, float lower_share) {
    const mesh_index* eye = k_refined_eyes[1];
    for (std::size_t k = 0; k < 7; ++k) {
      const vec3 gap = m_neutral[eye[k + 1]] - m_neutral[eye[9 + k]];  // from the upper lid to the lower one
      add(eye[9 + k], shape, upper_share * gap);
      add(eye[25 + k], shape, 0.55F * upper_share * gap);
      add(eye[41 + k], shape, 0.15F * upper_share * gap);
      add(eye[k + 1], shape, -lower_share * gap);
      add(eye[17 + k], shape, -0.7F * lower_share * gap);
      add(eye[33 + k], shape, -0.4F * lower_share * gap);
    }
  }
  void look(blendshape shape, vec3 move) {
    for (std::size_t k = 0; k < k_iris_points; ++k) add(k_mesh_points + k_iris_points + k, shape, move);
  }
  void move_eye() {
    lids(blendshape::eyeBlinkLeft, 0.85F, 0.15F);
    lids(blendshape::eyeSquintLeft, 0.08F, 0.35F);
    lids(blendshape::eyeWideLeft, -0.3F, 0);
    lids(blendshape::eyeLookUpLeft, -0.12F, 0);
    lids(blendshape::eyeLookDownLeft, 0.35F, 0);
    look(blendshape::eyeLookInLeft, {-5.5F, 0, -0.5F});
    look(blendshape::eyeLookOutLeft, {5.5F, 0, -0.5F});
    look(blendshape::eyeLookUpLeft, {0, 4.5F, -0.3F});
    look(blendshape::eyeLookDownLeft, {0, -5, -0.3F});
  }

  /// How far a point belongs to the jaw: the lower lip less towards its corners, the cheeks less towards the eyes.
  float jaw_share(std::size_t i) const {
    const vec3 corner = m_neutral[k_left_mouth_corner], p = m_neutral[i];
    const float across = std::min(1.0F, std::fabs(p.x) / corner.x);
    switch (m_part[i]) {
      case lower_lip: return 1 - 0.65F * across * across;
      case lip_corner: return 0.35F;
      case cheek: return std::fabs(p.x) < 0.8F * corner.x ? 0 : smooth_step((corner.y + 8 - p.y) / 22);
      case chin: return smooth_step((corner.y + 8 - p.y) / 22);
      default: return 0;
    }
  }
  void move_jaw() {
    const vec3 hinge{0, -8, 10};
    const rotation open = rotation_about({1, 0, 0}, 0.35F);  // 20 degrees
    const vec3 lip = m_neutral[k_lower_lip];
    for (std::size_t i = 0; i < k_face_points; ++i) {
      const float share = jaw_share(i), across = m_neutral[i].x / m_neutral[k_left_mouth_corner].x;
      const vec3 arm = m_neutral[i] - hinge, down = share * (open(arm) - arm);
      add(i, blendshape::jawOpen, down);
      add(i, blendshape::jawForward, {0, 0, 6 * share});
      add(i, blendshape::jawLeft, {7 * share, 0, 0});
      // Closes the lips of an open jaw: most of the way is the lower lip's.
      const float near_lip = length(m_neutral[i] - lip) / 26;
      if (m_part[i] == upper_lip) add(i, blendshape::mouthClose, {0, -6 * std::max(0.0F, 1 - across * across), -1});
      if (m_part[i] == lower_lip) add(i, blendshape::mouthClose, -0.78F * down);
      if (m_part[i] == chin && near_lip < 1) add(i, blendshape::mouthClose, -0.78F * (1 - near_lip * near_lip) * down);
    }
  }

  /// Corners of the mouth come nearer to its middle.
  void narrow_mouth() {
    for (std::size_t i = 0; i < k_face_points; ++i) {
      const float d = length(m_neutral[i] - m_neutral[k_lip_middle]) / 44;
      if ((m_part[i] & (lips | cheek | chin)) == 0 || d >= 1) continue;
      const float share = m_part[i] & lips ? 1 : (1 - d * d);
      add(i, blendshape::mouthPucker, {-0.42F * share * m_neutral[i].x, 0, 0});
      add(i, blendshape::mouthFunnel, {-0.22F * share * m_neutral[i].x, 0, 0});
    }
  }

  /// Lips roll over the teeth: the outer rings come up and in.
  void roll_lips() {
    const float up[4] = {3.5F, -0.5F, 2, 0.5F}, in[4] = {-2, -4, -4, -4};  // outline, opening, and the rings between
    for (std::size_t ring = 0; ring < 4; ++ring)
      for (std::size_t k = 1; k < 20; ++k) {
        const mesh_index i = k_refined_lips[20 * ring + k];
        const float across = m_neutral[i].x / m_neutral[k_left_mouth_corner].x;
        const float share = std::max(0.0F, 1 - across * across);
        if (m_part[i] == lower_lip) add(i, blendshape::mouthRollLower, share * vec3{0, up[ring], in[ring]});
        if (m_part[i] == upper_lip) add(i, blendshape::mouthRollUpper, share * vec3{0, -up[ring], in[ring]});
      }
  }

  void mirror() {
    for (std::size_t k = 0; k < k_blendshapes; ++k) {
      const auto shape = static_cast<blendshape>(k);
      if (mirrored(shape) == shape) continue;
      for (std::size_t i = 0; i < k_face_points; ++i) {
        const vec3 m = movement(i, shape);
        add(k_face_mirror[i], mirrored(shape), {-m.x, m.y, m.z});
      }
    }
  }

  const vec3* m_neutral;
  table& m_to;
  unsigned m_part[k_face_points] = {};
};

}  // namespace impl

inline blendshapes::blendshapes(const vec3 (&neutral)[k_face_points]) {
  std::copy(neutral, neutral + k_face_points, m_neutral);
  impl::rule_maker(m_neutral, m_movement);
}
inline blendshapes::blendshapes() {
  neutral_face(m_neutral);
  impl::rule_maker(m_neutral, m_movement);
}

}  // namespace example
