// SPDX-License-Identifier: MIT
/// Procedural textures with mip levels, and their trilinear, anisotropic reads. Colours are linear.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vector.hpp"

namespace raster {

inline float lattice(int x, int y, unsigned salt) {
  unsigned h = static_cast<unsigned>(x) * 374761393U + static_cast<unsigned>(y) * 668265263U + salt * 2246822519U;
  h = (h ^ (h >> 13)) * 1274126177U;
  return static_cast<float>((h ^ (h >> 16)) & 0xFFFFFFU) * 0x1p-24F;
}

/// Value noise in [0, 1] that repeats after `period` cells.
inline float noise(float x, float y, int period, unsigned salt) {
  const float fx = std::floor(x);
  const float fy = std::floor(y);
  const int x0 = static_cast<int>(fx);
  const int y0 = static_cast<int>(fy);
  const auto wrap = [period](int i) { return ((i % period) + period) % period; };
  const float u = smooth(0, 1, x - fx);
  const float v = smooth(0, 1, y - fy);
  const float a = lattice(wrap(x0), wrap(y0), salt);
  const float b = lattice(wrap(x0 + 1), wrap(y0), salt);
  const float c = lattice(wrap(x0), wrap(y0 + 1), salt);
  const float d = lattice(wrap(x0 + 1), wrap(y0 + 1), salt);
  return (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v;
}

/// Sum of octaves of `noise`, in [0, 1]; u and v in texture units (repeats at 1).
inline float fractal(float u, float v, int cells, int octaves, unsigned salt) {
  float sum = 0;
  float weight = 0.5F;
  float total = 0;
  for (int i = 0; i < octaves; ++i, cells *= 2, weight *= 0.55F) {
    sum += weight *
           noise(u * static_cast<float>(cells), v * static_cast<float>(cells), cells, salt + static_cast<unsigned>(i));
    total += weight;
  }
  return sum / total;
}

constexpr int k_texture_size = 256;
constexpr int k_texture_levels = 9;

struct texture {
  std::array<std::vector<vec3>, k_texture_levels> levels;
};

inline vec3 texel(const texture& t, int level, int x, int y) {
  const int mask = (k_texture_size >> level) - 1;
  const std::size_t row = static_cast<std::size_t>(y & mask);
  return t.levels[static_cast<std::size_t>(level)]
                 [row * static_cast<std::size_t>(mask + 1) + static_cast<std::size_t>(x & mask)];
}

inline vec3 sample_level(const texture& t, int level, float u, float v) {
  const float size = static_cast<float>(k_texture_size >> level);
  const float x = u * size - 0.5F;
  const float y = v * size - 0.5F;
  const float fx = std::floor(x);
  const float fy = std::floor(y);
  const int x0 = static_cast<int>(fx);
  const int y0 = static_cast<int>(fy);
  const vec3 top = mix(texel(t, level, x0, y0), texel(t, level, x0 + 1, y0), x - fx);
  const vec3 low = mix(texel(t, level, x0, y0 + 1), texel(t, level, x0 + 1, y0 + 1), x - fx);
  return mix(top, low, y - fy);
}

inline vec3 sample_trilinear(const texture& t, float u, float v, float lod) {
  lod = std::clamp(lod, 0.0F, static_cast<float>(k_texture_levels - 1));
  const int level = std::min(static_cast<int>(lod), k_texture_levels - 2);
  u -= std::floor(u);
  v -= std::floor(v);
  return mix(sample_level(t, level, u, v), sample_level(t, level + 1, u, v), lod - static_cast<float>(level));
}

/// Up to eight trilinear reads along the longer axis of the sample's footprint.
inline vec3 sample_anisotropic(const texture& t, float u, float v, float ux, float vx, float uy, float vy) {
  float a = std::sqrt(ux * ux + vx * vx);
  float b = std::sqrt(uy * uy + vy * vy);
  if (b > a) {
    std::swap(a, b);
    ux = uy;
    vx = vy;
  }
  const int taps = std::clamp(static_cast<int>(std::ceil(a / std::max(b, 1e-9F))), 1, 8);
  const float width = std::max(a / static_cast<float>(taps), b);
  const float lod = std::log2(std::max(width * static_cast<float>(k_texture_size), 1e-6F));
  vec3 sum;
  for (int i = 0; i < taps; ++i) {
    const float s = (static_cast<float>(i) + 0.5F) / static_cast<float>(taps) - 0.5F;
    sum = sum + sample_trilinear(t, u + ux * s, v + vx * s, lod);
  }
  return sum * (1.0F / static_cast<float>(taps));
}

enum class pattern { plain, speckle, bricks, tiles, planks, windows, stripes, writing, grass, panels, checks, count };

/// Five columns by seven rows per letter; the low bit is the left column.
inline constexpr std::array<std::array<std::uint8_t, 7>, 12> k_letters = {{{14, 17, 17, 31, 17, 17, 17},
                                                                           {15, 17, 17, 15, 17, 17, 15},
                                                                           {31, 1, 1, 15, 1, 1, 31},
                                                                           {17, 17, 17, 31, 17, 17, 17},
                                                                           {17, 9, 5, 3, 5, 9, 17},
                                                                           {17, 19, 21, 21, 25, 17, 17},
                                                                           {14, 17, 17, 17, 17, 17, 14},
                                                                           {15, 17, 17, 15, 5, 9, 17},
                                                                           {30, 1, 1, 14, 16, 16, 15},
                                                                           {31, 4, 4, 4, 4, 4, 4},
                                                                           {17, 10, 4, 4, 4, 10, 17},
                                                                           {31, 16, 8, 4, 2, 1, 31}}};

inline vec3 pattern_colour(pattern p, float u, float v, vec3 a, vec3 b, int scale, unsigned salt) {
  const float grain = fractal(u, v, 16, 4, salt);
  const float cells = static_cast<float>(scale);
  const float cu = u * cells;
  const float cv = v * cells;
  const int iu = static_cast<int>(cu);
  const int iv = static_cast<int>(cv);
  const float fu = cu - std::floor(cu);
  const float fv = cv - std::floor(cv);
  switch (p) {
    case pattern::plain: return mix(a, b, 0.25F * grain);
    case pattern::speckle: return mix(a, b, smooth(0.35F, 0.65F, fractal(u, v, 8, 5, salt)));
    case pattern::bricks: {
      const float x =
          cu + 0.5F * static_cast<float>((iv * 2) & 1) + ((static_cast<int>(cv * 2) & 1) != 0 ? 0.5F : 0.0F);
      const float y = cv * 2 - std::floor(cv * 2);
      const float bx = x - std::floor(x);
      const bool mortar = bx < 0.06F || y < 0.12F;
      const float shade = lattice(static_cast<int>(std::floor(x)) % scale, static_cast<int>(cv * 2), salt);
      return mortar ? b * (0.8F + 0.2F * grain) : a * (0.6F + 0.4F * shade) * (0.7F + 0.6F * grain);
    }
    case pattern::tiles: {
      const bool gap = fu < 0.05F || fv < 0.05F;
      const float shade = lattice(iu, iv, salt);
      return gap ? b * 0.4F : mix(a, b, 0.3F * shade) * (0.8F + 0.3F * grain);
    }
    case pattern::planks: {
      const float streak = noise(u * 8, v * 128, 128, salt) * 0.5F + noise(u * 16, v * 64, 64, salt + 9) * 0.5F;
      return fv < 0.05F ? b * 0.2F : mix(a, b, streak) * (0.7F + 0.3F * lattice(0, iv, salt));
    }
    case pattern::windows: {
      const bool pane = fu > 0.2F && fu < 0.8F && fv > 0.2F && fv < 0.85F;
      const bool bar = std::fabs(fu - 0.5F) < 0.03F || std::fabs(fv - 0.5F) < 0.025F;
      const float lit = lattice(iu, iv, salt);
      if (pane && !bar) return lit > 0.75F ? vec3{1.6F, 1.3F, 0.7F} : vec3{0.05F, 0.08F, 0.12F} + b * (0.2F * fv);
      return a * (0.75F + 0.4F * grain);
    }
    case pattern::stripes: return fu < 0.5F ? a : b;
    case pattern::writing: {
      const int column = static_cast<int>(fu * 7) - 1;
      const int line = static_cast<int>(fv * 10) - 1;
      const std::size_t letter = static_cast<std::size_t>(lattice(iu, iv, salt) * 11.99F);
      const bool ink = column >= 0 && column < 5 && line >= 0 && line < 7 &&
                       ((k_letters[letter][static_cast<std::size_t>(line)] >> column) & 1) != 0;
      return ink ? b : a;
    }
    case pattern::grass: {
      const float blade = noise(u * 128, v * 32, 128, salt) * 0.6F + grain * 0.4F;
      return mix(a, b, smooth(0.25F, 0.75F, blade));
    }
    case pattern::panels: {
      const float du = std::min(fu, 1 - fu);
      const float dv = std::min(fv, 1 - fv);
      const bool seam = du < 0.02F || dv < 0.02F;
      const bool bolt = (du - 0.1F) * (du - 0.1F) + (dv - 0.1F) * (dv - 0.1F) < 0.0012F;
      return seam ? a * 0.15F : bolt ? b * 1.3F : a * (0.85F + 0.25F * grain);
    }
    default: return ((iu + iv) & 1) != 0 ? a * (0.9F + 0.1F * grain) : b;
  }
}

inline texture make_texture(pattern p, vec3 a, vec3 b, int scale, unsigned salt) {
  texture t;
  const std::size_t size = k_texture_size;
  t.levels[0].resize(size * size);
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      vec3 sum;
      for (int s = 0; s < 4; ++s) {
        const float u = (static_cast<float>(x) + 0.25F + 0.5F * static_cast<float>(s & 1)) / static_cast<float>(size);
        const float v = (static_cast<float>(y) + 0.25F + 0.5F * static_cast<float>(s >> 1)) / static_cast<float>(size);
        sum = sum + pattern_colour(p, u, v, a, b, scale, salt);
      }
      t.levels[0][y * size + x] = sum * 0.25F;
    }
  }
  for (int level = 1; level < k_texture_levels; ++level) {
    const std::size_t n = size >> level;
    std::vector<vec3>& out = t.levels[static_cast<std::size_t>(level)];
    out.resize(n * n);
    for (std::size_t y = 0; y < n; ++y) {
      for (std::size_t x = 0; x < n; ++x) {
        const int px = static_cast<int>(2 * x);
        const int py = static_cast<int>(2 * y);
        out[y * n + x] = (texel(t, level - 1, px, py) + texel(t, level - 1, px + 1, py) +
                          texel(t, level - 1, px, py + 1) + texel(t, level - 1, px + 1, py + 1)) *
                         0.25F;
      }
    }
  }
  return t;
}

}  // namespace raster
