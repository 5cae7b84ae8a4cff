// SPDX-License-Identifier: MIT
/// A view of triangles: clipping, projection, z-test, and attributes at a screen point.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scene.hpp"

namespace raster {

/// A triangle in a view: screen corners with 1/w and the attributes divided by w.
struct screen_triangle {
  std::array<float, 3> x, y, inverse_w, depth;
  std::array<vertex, 3> over_w;
  float inverse_area = 0;
  int material = 0;
};

struct view {
  vec3 eye, right, up, forward;
  float scale = 1;
  bool parallel = false;
  int width = 0, height = 0;
};

struct visibility {
  std::vector<float> depth;
  std::vector<std::int32_t> index;
  std::vector<screen_triangle> triangles;
};

inline view look(vec3 eye, vec3 target, float scale, bool parallel, int width, int height) {
  const vec3 forward = normalise(target - eye);
  const vec3 right = normalise(cross(forward, std::fabs(forward.y) > 0.99F ? vec3{1, 0, 0} : vec3{0, 1, 0}));
  return {eye, right, cross(right, forward), forward, scale, parallel, width, height};
}

/// Position in view space: x right, y up, z along the view (w of the projection).
inline vec3 to_view(const view& c, vec3 p) {
  const vec3 d = p - c.eye;
  return {dot(d, c.right), dot(d, c.up), dot(d, c.forward)};
}

inline vec3 project(const view& c, vec3 v) {
  const float inverse = c.parallel ? 1 : 1 / v.z;
  const float half = 0.5F * static_cast<float>(c.height);
  return {0.5F * static_cast<float>(c.width) + v.x * c.scale * half * inverse, half - v.y * c.scale * half * inverse,
          inverse};
}

inline vertex cut(const vertex& a, const vertex& b, float t) {
  return {mix(a.position, b.position, t), mix(a.normal, b.normal, t), a.u + (b.u - a.u) * t, a.v + (b.v - a.v) * t};
}

inline void fill(visibility& out, const view& c, const screen_triangle& t, std::int32_t index) {
  const auto edge = [&](std::size_t a, std::size_t b, float px, float py) {
    return (t.x[b] - t.x[a]) * (py - t.y[a]) - (t.y[b] - t.y[a]) * (px - t.x[a]);
  };
  const auto clamp_to = [](float v, int n) {
    return std::clamp(static_cast<int>(std::clamp(v, -1.0F, static_cast<float>(n) + 1)), 0, n - 1);
  };
  const int x0 = clamp_to(std::floor(std::min({t.x[0], t.x[1], t.x[2]}) - 0.5F), c.width);
  const int x1 = clamp_to(std::ceil(std::max({t.x[0], t.x[1], t.x[2]})), c.width);
  const int y0 = clamp_to(std::floor(std::min({t.y[0], t.y[1], t.y[2]}) - 0.5F), c.height);
  const int y1 = clamp_to(std::ceil(std::max({t.y[0], t.y[1], t.y[2]})), c.height);
  for (int y = y0; y <= y1; ++y) {
    for (int x = x0; x <= x1; ++x) {
      const float px = static_cast<float>(x) + 0.5F;
      const float py = static_cast<float>(y) + 0.5F;
      const float a = edge(1, 2, px, py) * t.inverse_area;
      const float b = edge(2, 0, px, py) * t.inverse_area;
      const float g = 1 - a - b;
      if (a < 0 || b < 0 || g < 0) continue;
      const float depth = a * t.depth[0] + b * t.depth[1] + g * t.depth[2];
      const std::size_t at =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(c.width) + static_cast<std::size_t>(x);
      if (depth <= out.depth[at]) continue;
      out.depth[at] = depth;
      out.index[at] = index;
    }
  }
}

inline visibility render(const view& c, const std::vector<triangle>& triangles) {
  constexpr float near_plane = 0.1F;
  visibility out;
  const std::size_t count = static_cast<std::size_t>(c.width) * static_cast<std::size_t>(c.height);
  out.depth.assign(count, c.parallel ? -1e9F : 0.0F);
  out.index.assign(count, -1);
  for (const triangle& source : triangles) {
    std::array<vertex, 4> polygon{};
    std::size_t corners = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const vertex& a = source.corner[i];
      const vertex& b = source.corner[(i + 1) % 3];
      const float da = to_view(c, a.position).z - near_plane;
      const float db = to_view(c, b.position).z - near_plane;
      if (da > 0 || c.parallel) polygon[corners++] = a;
      if (!c.parallel && (da > 0) != (db > 0)) polygon[corners++] = cut(a, b, da / (da - db));
    }
    for (std::size_t k = 2; k < corners; ++k) {
      screen_triangle t;
      t.material = source.material;
      const std::array<std::size_t, 3> pick = {0, k - 1, k};
      for (std::size_t i = 0; i < 3; ++i) {
        const vertex& v = polygon[pick[i]];
        const vec3 in_view = to_view(c, v.position);
        const vec3 p = project(c, in_view);
        t.x[i] = p.x;
        t.y[i] = p.y;
        t.inverse_w[i] = p.z;
        t.depth[i] = c.parallel ? -in_view.z : p.z;
        t.over_w[i] = {v.position * p.z, v.normal * p.z, v.u * p.z, v.v * p.z};
      }
      const float area = (t.x[1] - t.x[0]) * (t.y[2] - t.y[0]) - (t.y[1] - t.y[0]) * (t.x[2] - t.x[0]);
      if (std::fabs(area) < 1e-7F) continue;
      t.inverse_area = 1 / area;
      fill(out, c, t, static_cast<std::int32_t>(out.triangles.size()));
      out.triangles.push_back(t);
    }
  }
  return out;
}

/// Attributes of the triangle's plane at a screen point, perspective-correct; the point may be outside the triangle.
inline vertex interpolate(const screen_triangle& t, float px, float py) {
  const auto edge = [&](std::size_t a, std::size_t b) {
    return (t.x[b] - t.x[a]) * (py - t.y[a]) - (t.y[b] - t.y[a]) * (px - t.x[a]);
  };
  const float a = edge(1, 2) * t.inverse_area;
  const float b = edge(2, 0) * t.inverse_area;
  const float g = 1 - a - b;
  const float w = 1 / std::max(a * t.inverse_w[0] + b * t.inverse_w[1] + g * t.inverse_w[2], 1e-9F);
  const auto blend = [&](vec3 p, vec3 q, vec3 r) { return (p * a + q * b + r * g) * w; };
  const auto& o = t.over_w;
  return {blend(o[0].position, o[1].position, o[2].position), blend(o[0].normal, o[1].normal, o[2].normal),
          (o[0].u * a + o[1].u * b + o[2].u * g) * w, (o[0].v * a + o[1].v * b + o[2].v * g) * w};
}

}  // namespace raster
