// SPDX-License-Identifier: MIT
#pragma once
/// Where a head is and how it is rotated: a similarity transform between a face's own shape and measured points.
///
///   head_pose pose = find_pose(shape, measured, weights, count);
///   measured[i] is about pose(shape[i]); shape[i] about pose.inverse(measured[i])
///
/// Both sets of points are right-handed: x to the right of the image, y up, z towards the camera. A face mesh that
/// gives pixels has y and z the other way round: `upright` swaps their signs. No allocation; about 10 microseconds for
/// 478 points.
#include <cstddef>
#include "vector.hpp"

namespace example {

struct head_pose {
  rotation rotate;
  float scale = 1;  ///< pixels per millimetre where shapes are in millimetres and points in pixels
  vec3 move;        ///< where the shape's origin is

  vec3 operator()(vec3 p) const { return scale * rotate(p) + move; }
  vec3 inverse(vec3 p) const { return 1 / scale * rotate.inverse()(p - move); }
};

/// From x right, y down, z away from the camera to x right, y up, z towards it, and back.
inline vec3 upright(vec3 p) { return {p.x, -p.y, -p.z}; }

namespace impl {

/// The eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix, by Jacobi's rotations.
inline rotation largest_eigenvector(double (&m)[4][4]) {
  double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  for (int sweep = 0; sweep < 12; ++sweep)
    for (int p = 0; p < 3; ++p)
      for (int q = p + 1; q < 4; ++q) {
        if (m[p][q] == 0) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (auto& row : m) {
          const double a = row[p], b = row[q];
          row[p] = c * a - s * b;
          row[q] = s * a + c * b;
        }
        for (int k = 0; k < 4; ++k) {
          const double a = m[p][k], b = m[q][k];
          m[p][k] = c * a - s * b;
          m[q][k] = s * a + c * b;
        }
        for (auto& row : v) {
          const double a = row[p], b = row[q];
          row[p] = c * a - s * b;
          row[q] = s * a + c * b;
        }
      }
  int best = 0;
  for (int k = 1; k < 4; ++k)
    if (m[k][k] > m[best][best]) best = k;
  return {static_cast<float>(v[0][best]), static_cast<float>(v[1][best]), static_cast<float>(v[2][best]),
          static_cast<float>(v[3][best])};
}

}  // namespace impl

/// Returns the similarity transform that brings `shape` nearest to `measured`, in the sum of squares weighted by
/// `weights` (Horn's closed form with quaternions, 1987). The weights must have a positive sum, and the points that
/// have weight must not be on one line.
inline head_pose find_pose(const vec3* shape, const vec3* measured, const float* weights, std::size_t count) {
  double total = 0, a[3] = {}, b[3] = {};
  const auto numbers = [](vec3 p, double(&to)[3]) {
    to[0] = p.x;
    to[1] = p.y;
    to[2] = p.z;
  };
  double p[3], q[3];
  for (std::size_t i = 0; i < count; ++i) {
    numbers(shape[i], p);
    numbers(measured[i], q);
    total += weights[i];
    for (int k = 0; k < 3; ++k) {
      a[k] += weights[i] * p[k];
      b[k] += weights[i] * q[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    a[k] /= total;
    b[k] /= total;
  }
  double s[3][3] = {}, extent = 0;
  for (std::size_t i = 0; i < count; ++i) {
    numbers(shape[i], p);
    numbers(measured[i], q);
    for (int row = 0; row < 3; ++row) {
      extent += weights[i] * (p[row] - a[row]) * (p[row] - a[row]);
      for (int column = 0; column < 3; ++column)
        s[row][column] += weights[i] * (p[row] - a[row]) * (q[column] - b[column]);
    }
  }
  double m[4][4] = {{s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
                    {s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
                    {s[2][0] - s[0][2], s[0][1] + s[1][0], s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
                    {s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], s[2][2] - s[0][0] - s[1][1]}};
  head_pose pose;
  pose.rotate = impl::largest_eigenvector(m);
  // The scale is the sum of the products of the rotated shape with the points, over the shape's own sum of squares.
  double along = 0;
  const vec3 axes[3] = {pose.rotate({1, 0, 0}), pose.rotate({0, 1, 0}), pose.rotate({0, 0, 1})};
  for (int row = 0; row < 3; ++row)
    along += s[row][0] * static_cast<double>(axes[row].x) + s[row][1] * static_cast<double>(axes[row].y) +
             s[row][2] * static_cast<double>(axes[row].z);
  pose.scale = static_cast<float>(along / extent);
  const vec3 from{static_cast<float>(a[0]), static_cast<float>(a[1]), static_cast<float>(a[2])};
  const vec3 to{static_cast<float>(b[0]), static_cast<float>(b[1]), static_cast<float>(b[2])};
  pose.move = to - pose.scale * pose.rotate(from);
  return pose;
}

}  // namespace example
