// SPDX-License-Identifier: MIT
#pragma once
/// The 52 customary blendshapes by their names in ARKit, and how each moves the points of a face in millimetres.
///
///   std::vector<blendshapes> shapes(1, blendshapes(neutral_face()));      // 300 KB: not for the stack
///   shapes[0].apply(weights, points);                                     // neutral + the sum of weight * movement
///
/// Left and right are the person's. A face is `k_face_points` points in the numbering and axes of face_shape.hpp.
/// Movements are linear in the weights, which are 0 for a neutral face and 1 for the strongest expression. They are
/// rules over the neutral face that is given (blendshape_rules.hpp), so a person's own eyes close at 1. tongueOut moves
/// nothing: the mesh has no tongue.
#include <cstddef>
#include <iterator>
#include <cstdint>
#include "face_shape.hpp"
#include "vector.hpp"

namespace example {

enum class blendshape : std::uint8_t {
  browDownLeft,
  browDownRight,
  browInnerUp,
  browOuterUpLeft,
  browOuterUpRight,
  cheekPuff,
  cheekSquintLeft,
  cheekSquintRight,
  eyeBlinkLeft,
  eyeBlinkRight,
  eyeLookDownLeft,
  eyeLookDownRight,
  eyeLookInLeft,
  eyeLookInRight,
  eyeLookOutLeft,
  eyeLookOutRight,
  eyeLookUpLeft,
  eyeLookUpRight,
  eyeSquintLeft,
  eyeSquintRight,
  eyeWideLeft,
  eyeWideRight,
  jawForward,
  jawLeft,
  jawOpen,
  jawRight,
  mouthClose,
  mouthDimpleLeft,
  mouthDimpleRight,
  mouthFrownLeft,
  mouthFrownRight,
  mouthFunnel,
  mouthLeft,
  mouthLowerDownLeft,
  mouthLowerDownRight,
  mouthPressLeft,
  mouthPressRight,
  mouthPucker,
  mouthRight,
  mouthRollLower,
  mouthRollUpper,
  mouthShrugLower,
  mouthShrugUpper,
  mouthSmileLeft,
  mouthSmileRight,
  mouthStretchLeft,
  mouthStretchRight,
  mouthUpperUpLeft,
  mouthUpperUpRight,
  noseSneerLeft,
  noseSneerRight,
  tongueOut
};
inline constexpr std::size_t k_blendshapes = 52;

inline constexpr const char* k_blendshape_names[k_blendshapes] = {
    "browDownLeft",      "browDownRight",      "browInnerUp",         "browOuterUpLeft",
    "browOuterUpRight",  "cheekPuff",          "cheekSquintLeft",     "cheekSquintRight",
    "eyeBlinkLeft",      "eyeBlinkRight",      "eyeLookDownLeft",     "eyeLookDownRight",
    "eyeLookInLeft",     "eyeLookInRight",     "eyeLookOutLeft",      "eyeLookOutRight",
    "eyeLookUpLeft",     "eyeLookUpRight",     "eyeSquintLeft",       "eyeSquintRight",
    "eyeWideLeft",       "eyeWideRight",       "jawForward",          "jawLeft",
    "jawOpen",           "jawRight",           "mouthClose",          "mouthDimpleLeft",
    "mouthDimpleRight",  "mouthFrownLeft",     "mouthFrownRight",     "mouthFunnel",
    "mouthLeft",         "mouthLowerDownLeft", "mouthLowerDownRight", "mouthPressLeft",
    "mouthPressRight",   "mouthPucker",        "mouthRight",          "mouthRollLower",
    "mouthRollUpper",    "mouthShrugLower",    "mouthShrugUpper",     "mouthSmileLeft",
    "mouthSmileRight",   "mouthStretchLeft",   "mouthStretchRight",   "mouthUpperUpLeft",
    "mouthUpperUpRight", "noseSneerLeft",      "noseSneerRight",      "tongueOut"};

inline constexpr std::size_t index_of(blendshape b) { return static_cast<std::size_t>(b); }

/// Returns the neutral face in millimetres, to `points`.
inline void neutral_face(vec3 (&points)[k_face_points]) {
  for (std::size_t i = 0; i < k_face_points; ++i)
    points[i] = {k_face_shape[3 * i] / 10.0F, k_face_shape[3 * i + 1] / 10.0F, k_face_shape[3 * i + 2] / 10.0F};
}

class blendshapes {
 public:
  /// Makes the movements of a face; see blendshape_rules.hpp.
  explicit blendshapes(const vec3 (&neutral)[k_face_points]);
  blendshapes();  ///< of the neutral face of face_shape.hpp

  const vec3* neutral() const { return m_neutral; }
  /// Where a point goes at weight 1, relative to the neutral face.
  vec3 movement(std::size_t point, blendshape b) const {
    const float(&m)[3][k_blendshapes] = m_movement[point];
    return {m[0][index_of(b)], m[1][index_of(b)], m[2][index_of(b)]};
  }
  /// The movements of a point along x, y and z, one number for each blendshape.
  const float (&movements(std::size_t point) const)[3][k_blendshapes] { return m_movement[point]; }

  /// Writes the face with these weights to `points`.
  void apply(const float (&weights)[k_blendshapes], vec3 (&points)[k_face_points]) const {
    for (std::size_t i = 0; i < k_face_points; ++i) {
      float sum[3] = {m_neutral[i].x, m_neutral[i].y, m_neutral[i].z};
      for (int axis = 0; axis < 3; ++axis)
        for (std::size_t b = 0; b < k_blendshapes; ++b) sum[axis] += weights[b] * m_movement[i][axis][b];
      points[i] = {sum[0], sum[1], sum[2]};
    }
  }

 private:
  vec3 m_neutral[k_face_points];
  float m_movement[k_face_points][3][k_blendshapes] = {};
};

}  // namespace example

#include "blendshape_rules.hpp"
