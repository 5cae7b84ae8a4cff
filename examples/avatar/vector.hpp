// SPDX-License-Identifier: MIT
#pragma once
/// Three numbers, and the products of them that heads need.
#include <cmath>

namespace example {

struct vec3 {
  float x = 0, y = 0, z = 0;
};
inline vec3 operator+(vec3 a, vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline vec3 operator-(vec3 a, vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline vec3 operator*(float s, vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
inline float dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline vec3 cross(vec3 a, vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline float length(vec3 a) { return std::sqrt(dot(a, a)); }
inline vec3 normalized(vec3 a) {
  const float n = length(a);
  return n > 0 ? 1 / n * a : a;
}

/// A rotation as a unit quaternion: w + xi + yj + zk.
struct rotation {
  float w = 1, x = 0, y = 0, z = 0;

  vec3 operator()(vec3 p) const {
    const vec3 axis{x, y, z}, t = 2 * cross(axis, p);
    return p + w * t + cross(axis, t);
  }
  rotation inverse() const { return {w, -x, -y, -z}; }
};

/// First b, then a.
inline rotation operator*(const rotation& a, const rotation& b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/// The rotation about a unit axis by an angle in radians, counterclockwise where the axis points at the viewer.
inline rotation rotation_about(vec3 axis, float angle) {
  const float s = std::sin(angle / 2);
  return {std::cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
}

/// Nodding (about x, up is negative), shaking (about y, to the person's left) and tilting (about z), in radians, in
/// this order from the outside: yaw, pitch, roll.
inline rotation rotation_of(float pitch, float yaw, float roll) {
  return rotation_about({0, 1, 0}, yaw) * rotation_about({1, 0, 0}, pitch) * rotation_about({0, 0, 1}, roll);
}

struct head_angles {
  float pitch, yaw, roll;
};
/// The angles of which rotation_of makes a rotation.
inline head_angles angles_of(const rotation& r) {
  const vec3 x = r({1, 0, 0}), y = r({0, 1, 0}), z = r({0, 0, 1});
  return {std::asin(z.y < -1 ? 1.0F : (z.y > 1 ? -1.0F : -z.y)), std::atan2(z.x, z.z), std::atan2(x.y, y.y)};
}

}  // namespace example
