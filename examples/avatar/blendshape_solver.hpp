// SPDX-License-Identifier: MIT
#pragma once
/// Landmarks of a face mesh to a head's pose and 52 blendshape weights.
///
///   auto solver = std::make_unique<blendshape_solver>();         // some 300 KB
///   solver->calibrate(points);                                   // once, with a face at rest: optional, and worth it
///   const expression& e = solver->solve(points, true);           // every frame; e.pose,
///   e.weights[index_of(blendshape::jawOpen)]
///
/// Points are k_face_points in the numbering of face_shape.hpp: x to the right of the image, y up, z towards the
/// camera, all in one unit. Without irises (the mesh of 468 points) pass false: the ten points behind are not read and
/// the eyes look ahead.
///
/// The pose is the similarity transform between the neutral face and the points, in which a point counts the less, the
/// farther blendshapes move it. In the head's own axes, what is left over the neutral face is explained by the
/// blendshapes: the weights in [0, 1] with the least sum of squared distances, plus a small penalty on each weight, by
/// which what little is seen of a shape does not make a large weight of it. Then both once more, from the face that was
/// found. No allocation.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include "blendshapes.hpp"
#include "head_pose.hpp"

namespace example {

struct expression {
  head_pose pose;                     ///< from the head's millimetres to the units of the points
  float weights[k_blendshapes] = {};  ///< in [0, 1], by blendshape
  float error = 0;                    ///< root of the mean square distance that is left, in millimetres
};

/// How much is believed of the points and of the shapes.
struct solver_settings {
  float depth = 0.3F;    ///< what a distance along z counts, where one along x or y counts 1
  float eyes = 4;        ///< what a point of lids and irises counts
  float lips = 2;        ///< of the lips
  float brows = 2;       ///< of the brows
  float outline = 0.3F;  ///< of the outline of the face, where the mesh is least sure
  float penalty = 1.5F;  ///< square millimetres per squared weight, of the shapes that a face is read by
  float secondary = 4;   ///< what the other shapes are charged more
  int sweeps = 60;       ///< of the descent at most; it starts at the weights of the frame before
};

/// The shapes that a face is read by: those that the others are only corrections of.
inline constexpr blendshape k_primary_shapes[] = {
    blendshape::browDownLeft,     blendshape::browDownRight,  blendshape::browInnerUp,    blendshape::browOuterUpLeft,
    blendshape::browOuterUpRight, blendshape::eyeBlinkLeft,   blendshape::eyeBlinkRight,  blendshape::eyeLookDownLeft,
    blendshape::eyeLookDownRight, blendshape::eyeLookInLeft,  blendshape::eyeLookInRight, blendshape::eyeLookOutLeft,
    blendshape::eyeLookOutRight,  blendshape::eyeLookUpLeft,  blendshape::eyeLookUpRight, blendshape::jawOpen,
    blendshape::mouthPucker,      blendshape::mouthSmileLeft, blendshape::mouthSmileRight};

/// Shapes of which a face shows one or the other.
inline constexpr blendshape k_opposites[][2] = {{blendshape::eyeLookInLeft, blendshape::eyeLookOutLeft},
                                                {blendshape::eyeLookInRight, blendshape::eyeLookOutRight},
                                                {blendshape::eyeLookDownLeft, blendshape::eyeLookUpLeft},
                                                {blendshape::eyeLookDownRight, blendshape::eyeLookUpRight},
                                                {blendshape::eyeBlinkLeft, blendshape::eyeWideLeft},
                                                {blendshape::eyeBlinkRight, blendshape::eyeWideRight},
                                                {blendshape::mouthSmileLeft, blendshape::mouthFrownLeft},
                                                {blendshape::mouthSmileRight, blendshape::mouthFrownRight},
                                                {blendshape::jawLeft, blendshape::jawRight},
                                                {blendshape::mouthLeft, blendshape::mouthRight}};

class blendshape_solver {
 public:
  explicit blendshape_solver(solver_settings settings = {}) : m_settings(settings) { prepare(); }

  /// Takes the face of these points for the neutral one of the person who is followed: the shapes are made anew for it.
  void calibrate(const vec3* points, bool irises) {
    m_found = {};
    const head_pose pose = find_pose(m_shapes.neutral(), points, m_rigid, k_mesh_points);
    vec3 own[k_face_points];
    for (std::size_t i = 0; i < k_mesh_points; ++i) own[i] = pose.inverse(points[i]);
    for (int side = 0; side < 2; ++side) {
      const mesh_index* eye = k_refined_eyes[side];
      vec3 moved;  // where the outline of the eye has gone
      for (std::size_t k = 0; k < k_eye_outline; ++k)
        moved = moved + 1.0F / k_eye_outline * (own[eye[k]] - m_shapes.neutral()[eye[k]]);
      for (std::size_t k = 0; k < k_iris_points; ++k) {
        const std::size_t i = k_mesh_points + static_cast<std::size_t>(side) * k_iris_points + k;
        own[i] = irises ? pose.inverse(points[i]) : m_shapes.neutral()[i] + moved;
      }
    }
    m_shapes = blendshapes(own);
    prepare();
  }

  /// Finds the pose, taking the face for the neutral one.
  const head_pose& locate(const vec3* points) {
    return m_found.pose = find_pose(m_shapes.neutral(), points, m_rigid, k_mesh_points);
  }
  /// Finds the weights in the pose that locate() found; then the pose of the face with these weights, and the weights
  /// in that.
  const expression& explain(const vec3* points, bool irises) {
    const std::size_t count = irises ? k_face_points : k_mesh_points;
    descend(points, count);
    vec3 face[k_face_points];
    m_shapes.apply(m_found.weights, face);
    m_found.pose = find_pose(face, points, m_rigid, k_mesh_points);
    descend(points, count);
    return m_found;
  }
  /// Returns pose and weights of a face: both of the above. The search begins at the weights of the frame before.
  const expression& solve(const vec3* points, bool irises) {
    locate(points);
    return explain(points, irises);
  }
  const blendshapes& shapes() const { return m_shapes; }

 private:
  /// What depends on the neutral face alone: what points and shapes count, and the products of the movements with each
  /// other.
  void prepare() {
    weigh();
    for (std::size_t set = 0; set < 2; ++set) {
      auto& products = m_products[set];
      for (auto& row : products) std::fill(std::begin(row), std::end(row), 0.0F);
      for (std::size_t i = 0; i < (set == 0 ? k_mesh_points : k_face_points); ++i)
        for (int axis = 0; axis < 3; ++axis) {
          const float(&m)[k_blendshapes] = m_shapes.movements(i)[axis];
          for (std::size_t a = 0; a < k_blendshapes; ++a)
            for (std::size_t b = 0; m[a] != 0 && b < k_blendshapes; ++b)
              if (set == 1 || !(looks(a) || looks(b))) products[a][b] += share(i, axis) * m[a] * m[b];
        }
    }
  }
  /// Whether a shape is seen by the irises.
  static bool looks(std::size_t shape) {
    return shape >= index_of(blendshape::eyeLookDownLeft) && shape <= index_of(blendshape::eyeLookUpRight);
  }
  float share(std::size_t point, int axis) const { return m_counts[point] * (axis == 2 ? m_settings.depth : 1); }

  void weigh() {
    std::fill(std::begin(m_counts), std::end(m_counts), 1.0F);
    for (const mesh_index i : k_oval) m_counts[i] = m_settings.outline;
    for (const mesh_index i : k_refined_lips) m_counts[i] = m_settings.lips;
    for (const auto& brow : k_brows)
      for (const mesh_index i : brow) m_counts[i] = m_settings.brows;
    for (const auto& eye : k_refined_eyes)
      for (std::size_t k = 0; k < k_eye_outline; ++k) m_counts[eye[k]] = m_settings.eyes;
    for (std::size_t i = k_mesh_points; i < k_face_points; ++i) m_counts[i] = m_settings.eyes;
    for (std::size_t i = 0; i < k_face_points; ++i) {
      float path = 0;
      for (std::size_t b = 0; b < k_blendshapes; ++b) path += length(m_shapes.movement(i, static_cast<blendshape>(b)));
      m_rigid[i] = 1 / (1 + path * path / 4);
    }
    for (std::size_t b = 0; b < k_blendshapes; ++b) m_opposite[b] = b;
    for (const auto& pair : k_opposites) {
      m_opposite[index_of(pair[0])] = index_of(pair[1]);
      m_opposite[index_of(pair[1])] = index_of(pair[0]);
    }
    std::fill(std::begin(m_penalty), std::end(m_penalty), m_settings.penalty * m_settings.secondary);
    for (const blendshape b : k_primary_shapes) m_penalty[index_of(b)] = m_settings.penalty;
  }

  /// What the points ask of each shape: its movements times their distances from the neutral face.
  void ask(const vec3* points, std::size_t count) {
    std::fill(std::begin(m_asked), std::end(m_asked), 0.0F);
    m_squares = m_total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const vec3 off = m_found.pose.inverse(points[i]) - m_shapes.neutral()[i];
      const float along[3] = {off.x, off.y, off.z};
      for (int axis = 0; axis < 3; ++axis) {
        const float(&m)[k_blendshapes] = m_shapes.movements(i)[axis];
        const float pull = share(i, axis) * along[axis];
        for (std::size_t b = 0; b < k_blendshapes; ++b) m_asked[b] += pull * m[b];
        m_squares += pull * along[axis];
      }
      m_total += m_counts[i];
    }
  }

  /// Coordinate descent: each weight in turn goes to where the sum is smallest with the others as they are, within its
  /// limits. Of two opposites the one that explains more stays, the other becomes 0.
  void descend(const vec3* points, std::size_t count) {
    ask(points, count);
    const auto& products = m_products[count == k_face_points ? 1 : 0];
    float(&w)[k_blendshapes] = m_found.weights;
    float rest[k_blendshapes];
    std::copy(std::begin(m_asked), std::end(m_asked), rest);
    const auto set = [&](std::size_t a, float value) {
      const float change = value - w[a];
      if (change == 0) return;
      w[a] = value;
      for (std::size_t b = 0; b < k_blendshapes; ++b) rest[b] -= change * products[a][b];
    };
    const auto best = [&](std::size_t a) {
      return products[a][a] > 0 ? std::clamp(rest[a] / (products[a][a] + m_penalty[a]), 0.0F, 1.0F) : 0;
    };
    const auto gain = [&](std::size_t a, float v) { return (2 * rest[a] - (products[a][a] + m_penalty[a]) * v) * v; };
    for (std::size_t a = 0; a < k_blendshapes; ++a) {
      const float start = w[a];
      w[a] = 0;
      set(a, start);
    }
    float farthest = 1;  // that a weight went in one sweep
    for (int sweep = 0; sweep < m_settings.sweeps && farthest > 1e-3F; ++sweep) {
      farthest = 0;
      for (std::size_t a = 0; a < k_blendshapes; ++a) {
        const std::size_t other = m_opposite[a];
        if (other < a) continue;
        const float before = w[a] - (other != a ? w[other] : 0);
        set(a, 0);
        if (other != a) set(other, 0);
        const float one = best(a), two = best(other);
        if (other != a && gain(other, two) > gain(a, one))
          set(other, two);
        else
          set(a, one);
        farthest = std::max(farthest, std::fabs(w[a] - (other != a ? w[other] : 0) - before));
      }
    }
    float explained = 0;
    for (std::size_t a = 0; a < k_blendshapes; ++a) explained += w[a] * (m_asked[a] + rest[a]);
    m_found.error = std::sqrt(std::max(0.0F, m_squares - explained) / m_total);
  }

  solver_settings m_settings;
  blendshapes m_shapes;
  expression m_found;
  float m_rigid[k_face_points];   ///< what points count for the pose
  float m_counts[k_face_points];  ///< and for the weights
  float m_penalty[k_blendshapes];
  std::size_t m_opposite[k_blendshapes];  ///< the shape itself where it has none
  float m_asked[k_blendshapes];
  float m_squares = 0, m_total = 0;  ///< of the distances before any weight, and what the points count together
  float m_products[2][k_blendshapes][k_blendshapes];  ///< without and with irises
};

}  // namespace example
