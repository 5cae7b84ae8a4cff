// SPDX-License-Identifier: MIT
/// Three-component vectors and a random source that gives the same numbers on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace raster {

struct vec3 {
  float x = 0, y = 0, z = 0;
};
inline vec3 operator+(vec3 a, vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline vec3 operator-(vec3 a, vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline vec3 operator*(vec3 a, vec3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline vec3 operator*(vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline float dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline vec3 cross(vec3 a, vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline vec3 normalise(vec3 a) { return a * (1.0F / std::sqrt(std::max(dot(a, a), 1e-20F))); }
inline vec3 mix(vec3 a, vec3 b, float t) { return a * (1 - t) + b * t; }
inline float smooth(float lo, float hi, float x) {
  const float t = std::clamp((x - lo) / (hi - lo), 0.0F, 1.0F);
  return t * t * (3 - 2 * t);
}

/// SplitMix64: the same numbers on every machine.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : m_state(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t bits() {
    std::uint64_t z = (m_state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  float unit() { return static_cast<float>(bits() >> 40) * 0x1p-24F; }
  float in(float lo, float hi) { return lo + (hi - lo) * unit(); }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  vec3 colour(float lo, float hi) { return {in(lo, hi), in(lo, hi), in(lo, hi)}; }

 private:
  std::uint64_t m_state;
};

}  // namespace raster
