// SPDX-License-Identifier: MIT
/// Light on a scene: sky, shadow of the sun, materials; and whole frames.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scene.hpp"
#include "visibility.hpp"

namespace raster {

inline vec3 sky(const scene& s, vec3 direction) {
  const float h = std::clamp(direction.y, 0.0F, 1.0F);
  vec3 c = mix(s.sky_low, s.sky_high, std::sqrt(h));
  if (direction.y > 0.02F) {
    const float u = direction.x / (direction.y + 0.15F) * 0.12F;
    const float v = direction.z / (direction.y + 0.15F) * 0.12F;
    const float cloud = smooth(0.5F, 0.72F, fractal(u + 4, v + 4, 8, 5, s.salt)) * smooth(0.02F, 0.2F, direction.y);
    c = mix(c, s.sky_low * 0.5F + vec3{0.55F, 0.55F, 0.55F}, 0.8F * cloud);
  }
  return c + s.sun_colour * (2 * smooth(0.9985F, 0.9992F, dot(direction, s.sun)));
}

/// Sunlight that reaches p, in [0, 1]: four depth comparisons blended by distance.
inline float sunlit(const visibility& shadow, const view& light, vec3 p) {
  const vec3 in_view = to_view(light, p);
  const vec3 at = project(light, in_view);
  const float fx = std::floor(at.x - 0.5F);
  const float fy = std::floor(at.y - 0.5F);
  const float tx = at.x - 0.5F - fx;
  const float ty = at.y - 0.5F - fy;
  const auto open = [&](int dx, int dy) {
    const int x = static_cast<int>(fx) + dx;
    const int y = static_cast<int>(fy) + dy;
    if (x < 0 || y < 0 || x >= light.width || y >= light.height) return 1.0F;
    return -in_view.z + 0.12F >= shadow.depth[static_cast<std::size_t>(y) * static_cast<std::size_t>(light.width) +
                                              static_cast<std::size_t>(x)]
               ? 1.0F
               : 0.0F;
  };
  return (open(0, 0) * (1 - tx) + open(1, 0) * tx) * (1 - ty) + (open(0, 1) * (1 - tx) + open(1, 1) * tx) * ty;
}

inline vec3 shade(const scene& s, const view& camera, const visibility& shadow, const view& light,
                  const screen_triangle& t, float px, float py) {
  const vertex v = interpolate(t, px, py);
  const vertex vx = interpolate(t, px + 1, py);
  const vertex vy = interpolate(t, px, py + 1);
  const material& m = s.materials[static_cast<std::size_t>(t.material)];
  const vec3 base = sample_anisotropic(m.image, v.u, v.v, vx.u - v.u, vx.v - v.v, vy.u - v.u, vy.v - v.v);
  const vec3 to_eye = camera.eye - v.position;
  const float distance = std::sqrt(dot(to_eye, to_eye));
  const vec3 eye = to_eye * (1 / distance);
  vec3 n = normalise(v.normal);
  if (dot(n, eye) < 0) n = n * -1.0F;
  const float sun = std::max(dot(n, s.sun), 0.0F) > 0 ? sunlit(shadow, light, v.position + n * 0.03F) : 0.0F;
  vec3 lit = s.ambient * (0.65F + 0.35F * n.y) + s.sun_colour * (sun * std::max(dot(n, s.sun), 0.0F));
  for (const lamp& l : s.lamps) {
    const vec3 d = l.position - v.position;
    const float squared = dot(d, d);
    if (squared > 80) continue;
    lit = lit + l.colour * (std::max(dot(n, normalise(d)), 0.0F) / (0.5F + squared) * (1 - squared / 80));
  }
  vec3 c = base * lit + base * m.glow;
  if (m.gloss > 0) {
    const float highlight = std::pow(std::max(dot(n, normalise(eye + s.sun)), 0.0F), 60.0F);
    const vec3 mirror = n * (2 * dot(n, eye)) - eye;
    const float fresnel = 0.04F + 0.5F * std::pow(1 - std::max(dot(n, eye), 0.0F), 5.0F);
    c = c + s.sun_colour * (sun * highlight * m.gloss) +
        mix(s.sky_low, s.sky_high, std::clamp(mirror.y, 0.0F, 1.0F)) * (fresnel * m.gloss);
  }
  return mix(s.sky_low, c, std::exp(-s.fog * distance));
}

inline std::uint8_t encode(float linear) {
  const float c = std::clamp(linear, 0.0F, 1.0F);
  const float srgb = c <= 0.0031308F ? 12.92F * c : 1.055F * std::pow(c, 1 / 2.4F) - 0.055F;
  return static_cast<std::uint8_t>(srgb * 255 + 0.5F);
}

inline float tone(float c) { return std::min(c * (1 + c * 0.2F) / (1 + c * 0.5F), 1.0F); }

struct image {
  int width = 0, height = 0;
  std::vector<vec3> pixels;
};

/// Shades every sample of a view that is width * samples by height * samples and averages blocks of samples x samples.
inline image render_frame(const scene& s, int width, int height, int samples) {
  const view camera =
      look(s.eye, s.target, 1 / std::tan(s.view_angle * 0.5F), false, width * samples, height * samples);
  const vec3 centre = s.eye + camera.forward * 16.0F;
  const view light = look(centre + s.sun * 60.0F, centre, 1 / 26.0F, true, 2048, 2048);
  const visibility shadow = render(light, s.triangles);
  const visibility seen = render(camera, s.triangles);
  const float half = 0.5F * static_cast<float>(camera.height) * camera.scale;
  const auto sample = [&](int sx, int sy) {
    const float px = static_cast<float>(sx) + 0.5F;
    const float py = static_cast<float>(sy) + 0.5F;
    const std::size_t at =
        static_cast<std::size_t>(sy) * static_cast<std::size_t>(camera.width) + static_cast<std::size_t>(sx);
    const std::int32_t index = seen.index[at];
    if (index >= 0) return shade(s, camera, shadow, light, seen.triangles[static_cast<std::size_t>(index)], px, py);
    const float dx = (px - 0.5F * static_cast<float>(camera.width)) / half;
    const float dy = (0.5F * static_cast<float>(camera.height) - py) / half;
    return sky(s, normalise(camera.forward + camera.right * dx + camera.up * dy));
  };
  image out{width, height, {}};
  const float share = 1 / static_cast<float>(samples * samples);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      vec3 sum;
      for (int k = 0; k < samples * samples; ++k) {
        const vec3 c = sample(x * samples + k % samples, y * samples + k / samples);
        sum = sum + vec3{tone(c.x), tone(c.y), tone(c.z)};
      }
      out.pixels.push_back(sum * share);
    }
  }
  return out;
}

inline image halve(const image& in) {
  image out{in.width / 2, in.height / 2, {}};
  const std::size_t row = static_cast<std::size_t>(in.width);
  for (std::size_t y = 0; y < static_cast<std::size_t>(out.height); ++y) {
    for (std::size_t x = 0; x < static_cast<std::size_t>(out.width); ++x) {
      const vec3* p = in.pixels.data() + 2 * y * row + 2 * x;
      out.pixels.push_back((p[0] + p[1] + p[row] + p[row + 1]) * 0.25F);
    }
  }
  return out;
}

}  // namespace raster
