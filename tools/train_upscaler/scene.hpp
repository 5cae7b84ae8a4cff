// SPDX-License-Identifier: MIT
/// A scene: triangles, materials, lamps, camera, sky; and the solids that worlds are made of. Metres, y up.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "texture.hpp"
#include "vector.hpp"

namespace raster {

struct vertex {
  vec3 position, normal;
  float u = 0, v = 0;
};
struct triangle {
  std::array<vertex, 3> corner;
  int material = 0;
};
struct material {
  texture image;
  float gloss = 0;
  float glow = 0;
};
struct lamp {
  vec3 position, colour;
};
struct scene {
  std::vector<triangle> triangles;
  std::vector<material> materials;
  std::vector<lamp> lamps;
  vec3 eye, target, sun, sun_colour, ambient, sky_low, sky_high;
  float fog = 0;
  float view_angle = 1;
  unsigned salt = 0;
};

inline int add_material(scene& s, random_source& r, pattern p, vec3 a, vec3 b, int scale, float gloss = 0,
                        float glow = 0) {
  s.materials.push_back({make_texture(p, a, b, scale, static_cast<unsigned>(r.bits())), gloss, glow});
  return static_cast<int>(s.materials.size()) - 1;
}

inline int random_material(scene& s, random_source& r) {
  const auto p = static_cast<pattern>(r.below(static_cast<int>(pattern::count)));
  return add_material(s, r, p, r.colour(0.05F, 0.9F), r.colour(0.05F, 0.9F), 2 << r.below(3),
                      r.unit() < 0.4F ? r.unit() : 0);
}

/// A four-sided patch a b c d (counter-clockwise seen from outside); texture repeats ru by rv times.
inline void add_quad(scene& s, vec3 a, vec3 b, vec3 c, vec3 d, float ru, float rv, int m) {
  const vec3 n = normalise(cross(b - a, d - a));
  const vertex va{a, n, 0, rv};
  const vertex vb{b, n, ru, rv};
  const vertex vc{c, n, ru, 0};
  const vertex vd{d, n, 0, 0};
  s.triangles.push_back({{va, vb, vc}, m});
  s.triangles.push_back({{va, vc, vd}, m});
}

/// A box standing at `base` (centre of its floor), rotated by `turn` radians.
inline void add_box(scene& s, vec3 base, vec3 size, float turn, float repeat, int m) {
  const float cs = std::cos(turn);
  const float sn = std::sin(turn);
  const auto at = [&](float x, float y, float z) {
    x *= size.x * 0.5F;
    z *= size.z * 0.5F;
    return base + vec3{x * cs - z * sn, y * size.y, x * sn + z * cs};
  };
  const float rx = size.x * repeat;
  const float ry = size.y * repeat;
  const float rz = size.z * repeat;
  add_quad(s, at(-1, 0, 1), at(1, 0, 1), at(1, 1, 1), at(-1, 1, 1), rx, ry, m);
  add_quad(s, at(1, 0, -1), at(-1, 0, -1), at(-1, 1, -1), at(1, 1, -1), rx, ry, m);
  add_quad(s, at(1, 0, 1), at(1, 0, -1), at(1, 1, -1), at(1, 1, 1), rz, ry, m);
  add_quad(s, at(-1, 0, -1), at(-1, 0, 1), at(-1, 1, 1), at(-1, 1, -1), rz, ry, m);
  add_quad(s, at(-1, 1, 1), at(1, 1, 1), at(1, 1, -1), at(-1, 1, -1), rx, rz, m);
}

/// A solid of revolution: rings of radius radius[i] at height[i] (relative to base), smooth around.
inline void add_lathe(scene& s, vec3 base, const std::vector<float>& radius, const std::vector<float>& height,
                      int sides, float repeat, int m) {
  const auto point = [&](std::size_t ring, int k) {
    const float angle = 6.2831853F * static_cast<float>(k) / static_cast<float>(sides);
    const std::size_t before = ring > 0 ? ring - 1 : ring;
    const std::size_t after = std::min(ring + 1, radius.size() - 1);
    const float slope_r = radius[after] - radius[before];
    const float slope_h = height[after] - height[before];
    vertex v;
    v.position = base + vec3{radius[ring] * std::cos(angle), height[ring], radius[ring] * std::sin(angle)};
    v.normal = normalise({slope_h * std::cos(angle), -slope_r, slope_h * std::sin(angle)});
    v.u = repeat * static_cast<float>(k) / static_cast<float>(sides);
    v.v = repeat * static_cast<float>(ring) / static_cast<float>(radius.size() - 1);
    return v;
  };
  for (std::size_t ring = 0; ring + 1 < radius.size(); ++ring) {
    for (int k = 0; k < sides; ++k) {
      const vertex a = point(ring, k);
      const vertex b = point(ring, k + 1);
      const vertex c = point(ring + 1, k + 1);
      const vertex d = point(ring + 1, k);
      s.triangles.push_back({{a, b, c}, m});
      s.triangles.push_back({{a, c, d}, m});
    }
  }
}

inline void add_ball(scene& s, vec3 centre, float r, int m) {
  std::vector<float> radius;
  std::vector<float> height;
  for (int i = 0; i <= 20; ++i) {
    const float angle = 3.14159265F * static_cast<float>(i) / 20.0F;
    radius.push_back(r * std::sin(angle));
    height.push_back(-r * std::cos(angle));
  }
  add_lathe(s, centre, radius, height, 32, 2, m);
}

inline void add_pole(scene& s, vec3 base, float r, float h, int m) { add_lathe(s, base, {r, r}, {0, h}, 10, 1, m); }

/// A thin bar between two points, seen from any side.
inline void add_wire(scene& s, vec3 a, vec3 b, float width, int m) {
  const vec3 along = normalise(b - a);
  const vec3 side = normalise(cross(along, std::fabs(along.y) < 0.9F ? vec3{0, 1, 0} : vec3{1, 0, 0})) * width;
  const vec3 up = normalise(cross(side, along)) * width;
  add_quad(s, a - side, b - side, b + side, a + side, 1, 1, m);
  add_quad(s, a - up, b - up, b + up, a + up, 1, 1, m);
}

inline void add_ground(scene& s, float extent, float bumps, float repeat, int m) {
  constexpr int n = 48;
  const auto at = [&](int i, int j) {
    const auto height = [&](float x, float z) { return bumps * (fractal(x * 0.01F, z * 0.01F, 4, 3, s.salt) - 0.5F); };
    const float x = extent * (static_cast<float>(i) / n - 0.5F);
    const float z = extent * (static_cast<float>(j) / n - 0.5F);
    vertex v;
    v.position = {x, height(x, z), z};
    v.normal = normalise({height(x - 0.5F, z) - height(x + 0.5F, z), 1, height(x, z - 0.5F) - height(x, z + 0.5F)});
    v.u = x * repeat;
    v.v = z * repeat;
    return v;
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      s.triangles.push_back({{at(i, j), at(i, j + 1), at(i + 1, j + 1)}, m});
      s.triangles.push_back({{at(i, j), at(i + 1, j + 1), at(i + 1, j)}, m});
    }
  }
}

}  // namespace raster
