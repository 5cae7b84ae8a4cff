// SPDX-License-Identifier: MIT
#pragma once
/// A small software rasteriser for a head: triangles and ellipsoids with depth, four samples per pixel.
///
///   canvas to(240, 240);            // all memory is taken here
///   to.clear();
///   to.draw(a, b, c);               // vertices in samples: x right, y down, z towards the camera
///   to.draw(ball);
///   to.resolve(photo, 0, 0);        // lights what is seen, writes the mean of each four samples to a pixel
///
/// Drawing stores depth and which surface is seen; normals and colours are computed in the end, once for a pixel whose
/// samples show one surface. Colours are linear, not sRGB. The camera is at infinity, so nothing depends on the
/// distance but what hides what.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>
#include "avatar/vector.hpp"
#include "support/image.hpp"

namespace example {

/// A place on the canvas and what is there.
struct vertex {
  vec3 at, normal, color;
};

/// A disc around a direction of an ellipsoid, in another colour: iris and pupil.
struct spot {
  vec3 direction, color;
  float cosine = 2;  ///< of the angle at its rim; above 1 there is none
};

/// What is within `radii` of `at`, along axes that `axes` rotates; in samples and the canvas's axes.
struct ellipsoid {
  vec3 at, radii;
  rotation axes;
  vec3 color;
  float gloss = 0.15F;
  spot spots[3];  ///< each in front of those before it
};

class canvas {
 public:
  canvas(int width, int height)
      : m_width(2 * width),
        m_height(2 * height),
        m_depth(static_cast<std::size_t>(4 * width * height)),
        m_seen(m_depth.size()) {
    m_patches.reserve(k_max_patches);
    m_balls.reserve(k_max_balls);
  }
  int width() const { return m_width; }  ///< in samples
  int height() const { return m_height; }

  void clear() {
    std::fill(m_depth.begin(), m_depth.end(), -1e9F);
    std::fill(m_seen.begin(), m_seen.end(), std::uint16_t{0});
    m_patches.clear();
    m_balls.clear();
  }

  /// Draws a triangle with corners counterclockwise as the camera sees them; others show their back and are left out,
  /// as is what is more than k_max_patches.
  void draw(const vertex& a, const vertex& b, const vertex& c, float gloss = 0.15F) {
    const float area = (b.at.x - a.at.x) * (a.at.y - c.at.y) - (c.at.x - a.at.x) * (a.at.y - b.at.y);
    if (!(area > 0) || m_patches.size() == k_max_patches) return;
    patch p{a, {}, {}, gloss};
    p.dx = slope(a, b, c, (a.at.y - c.at.y) / area, (b.at.y - a.at.y) / area);
    p.dy = slope(a, b, c, (c.at.x - a.at.x) / area, (a.at.x - b.at.x) / area);
    m_patches.push_back(p);
    const auto number = static_cast<std::uint16_t>(m_patches.size());
    const int top = first(std::min({a.at.y, b.at.y, c.at.y}), m_height);
    const int bottom = first(std::max({a.at.y, b.at.y, c.at.y}), m_height);
    for (int y = top; y < bottom; ++y) {
      float from = 1e9F, to = -1e9F;
      const float row = static_cast<float>(y) + 0.5F;
      cross_edge(a.at, b.at, row, from, to);
      cross_edge(b.at, c.at, row, from, to);
      cross_edge(c.at, a.at, row, from, to);
      const int left = first(from, m_width), right = first(to, m_width);
      float z = a.at.z + (static_cast<float>(left) + 0.5F - a.at.x) * p.dx.at.z + (row - a.at.y) * p.dy.at.z;
      for (std::size_t i = index(left, y); i < index(right, y); ++i, z += p.dx.at.z)
        if (z > m_depth[i]) {
          m_depth[i] = z;
          m_seen[i] = number;
        }
    }
  }

  /// Draws an ellipsoid, unless there are k_max_balls.
  void draw(const ellipsoid& e) {
    if (m_balls.size() == k_max_balls) return;
    const ball s(e);
    m_balls.push_back(s);
    const auto number = static_cast<std::uint16_t>(k_max_patches + m_balls.size());
    // Its outline: the quadratic form that is left where z has been eliminated.
    const float a = s.xx - s.xz * s.xz / s.zz, b = s.xy - s.xz * s.yz / s.zz, c = s.yy - s.yz * s.yz / s.zz;
    const float reach = std::sqrt(a / (a * c - b * b));
    const int top = first(e.at.y - reach, m_height), bottom = first(e.at.y + reach, m_height);
    for (int y = top; y < bottom; ++y) {
      const float dy = static_cast<float>(y) + 0.5F - e.at.y, root = b * b * dy * dy - a * (c * dy * dy - 1);
      const float middle = e.at.x - b * dy / a, half = std::sqrt(std::max(0.0F, root)) / a;
      const int left = first(middle - half, m_width), right = first(middle + half, m_width);
      if (left < right) fill_row(s, dy, left, right - left, index(left, y), number);
    }
  }

  /// Lights what is seen, over a backdrop, and writes it to `to`, with the upper left corner at (left, top) there.
  void resolve(image& to, int left, int top) const {
    for (int y = 0; y < m_height; y += 2) {
      const float down = static_cast<float>(y) / static_cast<float>(m_height);
      const vec3 backdrop{80 + 70 * down, 115 + 65 * down, 150 + 50 * down};
      std::uint8_t* pixel = to.at(left, top + y / 2);
      for (int x = 0; x < m_width; x += 2, pixel += 3) {
        const vec3 c = pixel_at(x, y, backdrop);
        pixel[0] = static_cast<std::uint8_t>(c.x + 0.5F);
        pixel[1] = static_cast<std::uint8_t>(c.y + 0.5F);
        pixel[2] = static_cast<std::uint8_t>(c.z + 0.5F);
      }
    }
  }

 private:
  static constexpr std::size_t k_max_patches = 1024, k_max_balls = 32;

  /// A triangle: its numbers at a corner, and how they change per sample to the right and down.
  struct patch {
    vertex from, dx, dy;
    float gloss;
  };
  /// An ellipsoid with (p - at) Q (p - at) = 1.
  struct ball : ellipsoid {
    explicit ball(const ellipsoid& e) : ellipsoid(e) {
      const vec3 u = 1 / radii.x * axes({1, 0, 0}), v = 1 / radii.y * axes({0, 1, 0}),
                 w = 1 / radii.z * axes({0, 0, 1});
      const auto q = [&](float vec3::*i, float vec3::*j) { return u.*i * u.*j + v.*i * v.*j + w.*i * w.*j; };
      xx = q(&vec3::x, &vec3::x), xy = q(&vec3::x, &vec3::y), xz = q(&vec3::x, &vec3::z);
      yy = q(&vec3::y, &vec3::y), yz = q(&vec3::y, &vec3::z), zz = q(&vec3::z, &vec3::z);
      depth = 1 / zz;
    }
    float xx, xy, xz, yy, yz, zz, depth;
  };

  /// The first sample whose centre is not left of (above) a place, within the canvas.
  static int first(float place, int size) {
    return static_cast<int>(std::ceil(std::clamp(place - 0.5F, 0.0F, static_cast<float>(size))));
  }
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(m_width) + static_cast<std::size_t>(x);
  }
  static void cross_edge(vec3 a, vec3 b, float y, float& from, float& to) {
    if ((a.y <= y) == (b.y <= y)) return;
    const float x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
    from = std::min(from, x);
    to = std::max(to, x);
  }
  static vertex slope(const vertex& a, const vertex& b, const vertex& c, float of_b, float of_c) {
    const auto along = [&](vec3 p, vec3 q, vec3 r) { return of_b * (q - p) + of_c * (r - p); };
    return {along(a.at, b.at, c.at), along(a.normal, b.normal, c.normal), along(a.color, b.color, c.color)};
  }

  /// Samples of an ellipsoid in one row. Without branches, for the compiler to vectorise.
  void fill_row(const ball& s, float dy, int left, int count, std::size_t begin, std::uint16_t number) {
    float* depth = &m_depth[begin];
    std::uint16_t* seen = &m_seen[begin];
    const float x = static_cast<float>(left) + 0.5F - s.at.x, flat = s.yz * dy, square = s.yy * dy * dy - 1;
    for (int k = 0; k < count; ++k) {
      const float dx = x + static_cast<float>(k), linear = s.xz * dx + flat;
      const float inside = linear * linear - s.zz * ((s.xx * dx + 2 * s.xy * dy) * dx + square);
      const float z = s.at.z + (std::sqrt(inside > 0 ? inside : 0) - linear) * s.depth;
      const bool nearest = z > depth[k];
      depth[k] = nearest ? z : depth[k];
      seen[k] = nearest ? number : seen[k];
    }
  }

  /// The mean of four samples. One is enough where all show one surface without spots, two where they show neighbouring
  /// triangles.
  vec3 pixel_at(int x, int y, vec3 backdrop) const {
    const std::size_t i = index(x, y), below = i + static_cast<std::size_t>(m_width);
    const unsigned one = m_seen[i], two = m_seen[i + 1], three = m_seen[below], four = m_seen[below + 1];
    const bool same = one == two && one == three && one == four;
    if (same && one == 0) return backdrop;
    const bool plain = one <= k_max_patches || m_balls[one - k_max_patches - 1].spots[0].cosine > 1;
    if (same && plain) return lit(x, y, backdrop);
    const auto triangle = [](unsigned n) { return n - 1 < k_max_patches; };
    const vec3 diagonal = lit(x, y, backdrop) + lit(x + 1, y + 1, backdrop);
    if (triangle(one) && triangle(two) && triangle(three) && triangle(four)) return 0.5F * diagonal;
    return 0.25F * (diagonal + lit(x + 1, y, backdrop) + lit(x, y + 1, backdrop));
  }

  /// A sample's colour in [0, 255].
  vec3 lit(int x, int y, vec3 backdrop) const {
    const std::size_t i = index(x, y);
    if (m_seen[i] == 0) return backdrop;
    const vec3 at{static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F, m_depth[i]};
    if (m_seen[i] <= k_max_patches) {
      const patch& p = m_patches[m_seen[i] - 1U];
      const float dx = at.x - p.from.at.x, dy = at.y - p.from.at.y;
      return shade(normalized(p.from.normal + dx * p.dx.normal + dy * p.dy.normal),
                   p.from.color + dx * p.dx.color + dy * p.dy.color, p.gloss);
    }
    const ball& s = m_balls[m_seen[i] - k_max_patches - 1];
    const vec3 d = at - s.at;
    const vec3 n = normalized({s.xx * d.x + s.xy * d.y + s.xz * d.z, s.xy * d.x + s.yy * d.y + s.yz * d.z,
                               s.xz * d.x + s.yz * d.y + s.zz * d.z});
    vec3 color = s.color;
    if (s.spots[0].cosine <= 1)
      for (const spot& k : s.spots)
        if (dot(n, k.direction) > k.cosine) color = k.color;
    return shade(n, color, s.gloss);
  }

  /// A warm light from the upper left, a cool one from the right, more light from above than from below, and a gleam.
  static vec3 shade(vec3 n, vec3 color, float gloss) {
    const float key = std::max(0.0F, dot(n, {-0.45F, -0.52F, 0.73F})),
                fill = std::max(0.0F, dot(n, {0.80F, -0.05F, 0.60F}));
    const float above = 0.5F - 0.5F * n.y, half = std::max(0.0F, dot(n, {-0.24F, -0.28F, 0.93F}));
    const float h4 = half * half * half * half, h16 = h4 * h4 * h4 * h4, h32 = h16 * h16;
    const float more = gloss * (gloss > 0.5F ? h32 * h32 * h32 * h32 : h32) + (1 - n.z) * (1 - n.z) * 0.18F * above;
    const auto byte = [](float v) { return 255 * std::sqrt(std::min(1.0F, v)); };
    return {byte(color.x * (0.24F + 0.16F * above + 0.72F * key + 0.12F * fill) + more),
            byte(color.y * (0.25F + 0.17F * above + 0.66F * key + 0.14F * fill) + more),
            byte(color.z * (0.30F + 0.18F * above + 0.58F * key + 0.20F * fill) + more)};
  }

  int m_width, m_height;
  std::vector<float> m_depth;
  std::vector<std::uint16_t> m_seen;  ///< 0: nothing, then triangles, then ellipsoids
  std::vector<patch> m_patches;
  std::vector<ball> m_balls;
};

}  // namespace example
