// SPDX-License-Identifier: MIT
/// Four kinds of scene, each built from a seed: street, woods, hall, toys.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "scene.hpp"

namespace raster {

inline void build_street(scene& s, random_source& r) {
  const int road = add_material(s, r, pattern::speckle, r.colour(0.06F, 0.12F), r.colour(0.1F, 0.2F), 8);
  const int pavement = add_material(s, r, pattern::tiles, r.colour(0.3F, 0.5F), r.colour(0.3F, 0.5F), 8);
  const int paint = add_material(s, r, pattern::plain, {0.85F, 0.85F, 0.8F}, {0.7F, 0.7F, 0.6F}, 2);
  const int metal = add_material(s, r, pattern::plain, r.colour(0.03F, 0.15F), r.colour(0.1F, 0.2F), 2, 0.7F);
  add_ground(s, 160, 0, 0.25F, road);
  for (int side = -1; side <= 1; side += 2) {
    const float x = 6.5F * static_cast<float>(side);
    add_box(s, {x, 0, 0}, {4, 0.2F, 140}, 0, 0.5F, pavement);
    float z = -55;
    while (z < 40) {
      const float width = r.in(6, 13);
      const pattern face = r.unit() < 0.65F ? pattern::windows : pattern::bricks;
      const int wall =
          add_material(s, r, face, r.colour(0.12F, 0.7F), r.colour(0.2F, 0.8F), face == pattern::windows ? 4 : 8);
      add_box(s, {(13 + r.in(-0.5F, 1)) * static_cast<float>(side), 0, z + width / 2}, {9, r.in(5, 18), width - 0.2F},
              0, 0.11F, wall);
      if (r.unit() < 0.6F) {
        const int sign =
            add_material(s, r, pattern::writing, r.colour(0, 1), r.colour(0, 1), 8, 0, r.unit() < 0.5F ? 0.8F : 0);
        const float sx = 8.2F * static_cast<float>(side);
        const float h = r.in(2.2F, 4);
        const vec3 a{sx, h, z + 1};
        const vec3 b{sx, h, z + 1 + r.in(2, 4)};
        if (side < 0)
          add_quad(s, b, a, a + vec3{0, 1, 0}, b + vec3{0, 1, 0}, 1, 0.25F, sign);
        else
          add_quad(s, a, b, b + vec3{0, 1, 0}, a + vec3{0, 1, 0}, 1, 0.25F, sign);
      }
      z += width;
    }
    for (float p = -48; p < 30; p += r.in(7, 11)) {
      const float px = 4.9F * static_cast<float>(side);
      add_pole(s, {px, 0, p}, 0.09F, 5, metal);
      add_wire(s, {px, 5, p}, {px - 1.6F * static_cast<float>(side), 5.2F, p}, 0.05F, metal);
      s.lamps.push_back({{px - 1.6F * static_cast<float>(side), 4.9F, p}, vec3{5, 3.6F, 1.8F} * r.in(0.2F, 1)});
    }
    for (float p = -50; p < 20; p += 0.45F)
      add_wire(s, {4.55F * static_cast<float>(side), 0.2F, p}, {4.55F * static_cast<float>(side), 1, p}, 0.022F, metal);
    add_wire(s, {4.55F * static_cast<float>(side), 1, -50}, {4.55F * static_cast<float>(side), 1, 20}, 0.03F, metal);
  }
  for (float z = -60; z < 30; z += 3) add_box(s, {0, 0, z}, {0.15F, 0.012F, 1.4F}, 0, 1, paint);
  for (int i = 0; i < 7; ++i) add_wire(s, {-8, r.in(5, 9), r.in(-40, 0)}, {8, r.in(5, 9), r.in(-40, 0)}, 0.025F, metal);
  for (int i = 0; i < 6; ++i) {
    const int body = add_material(s, r, pattern::panels, r.colour(0.05F, 0.8F), r.colour(0.3F, 0.8F), 2, 0.9F);
    const vec3 at{r.unit() < 0.5F ? -3.2F : 3.2F, 0.3F, r.in(-40, 2)};
    add_box(s, at, {1.7F, 0.7F, 4}, 0, 0.3F, body);
    add_box(s, at + vec3{0, 0.7F, 0.2F}, {1.5F, 0.55F, 2}, 0, 0.3F, metal);
  }
  s.eye = {r.in(-3, 3), r.in(1.4F, 4), r.in(8, 16)};
  s.target = {r.in(-4, 4), r.in(1, 4.5F), -14};
}

inline void build_woods(scene& s, random_source& r) {
  const int ground = add_material(s, r, pattern::grass, r.colour(0.03F, 0.15F) + vec3{0.02F, 0.08F, 0},
                                  r.colour(0.1F, 0.3F) + vec3{0.05F, 0.2F, 0}, 8);
  const int bark = add_material(s, r, pattern::planks, {0.22F, 0.14F, 0.08F}, {0.1F, 0.06F, 0.03F}, 8);
  const int stone = add_material(s, r, pattern::speckle, r.colour(0.25F, 0.5F), r.colour(0.1F, 0.3F), 4);
  add_ground(s, 120, 7, 0.3F, ground);
  const auto height = [&](float x, float z) { return 7 * (fractal(x * 0.01F, z * 0.01F, 4, 3, s.salt) - 0.5F); };
  std::array<int, 3> leaves{};
  for (int& leaf : leaves)
    leaf = add_material(s, r, pattern::speckle, r.colour(0.02F, 0.2F) + vec3{0, 0.12F, 0},
                        r.colour(0.05F, 0.3F) + vec3{0, 0.25F, 0}, 4);
  for (int i = 0; i < 90; ++i) {
    const float x = r.in(-30, 30);
    const float z = r.in(-45, 8);
    const float h = r.in(3, 8);
    const int leaf = leaves[static_cast<std::size_t>(r.below(3))];
    const vec3 base{x, height(x, z) - 0.2F, z};
    add_lathe(s, base, {0.05F * h, 0.02F * h}, {0, h * 0.7F}, 9, 2, bark);
    if (r.unit() < 0.6F) {
      for (int k = 0; k < 4; ++k) {
        const float y = h * (0.25F + 0.2F * static_cast<float>(k));
        add_lathe(s, base, {h * 0.05F, h * (0.3F - 0.055F * static_cast<float>(k)), 0.0F},
                  {y + 0.02F, y, y + h * 0.32F}, 11, 2, leaf);
      }
    } else {
      for (int k = 0; k < 5; ++k)
        add_ball(s, base + vec3{r.in(-0.2F, 0.2F) * h, h * r.in(0.6F, 1), r.in(-0.2F, 0.2F) * h},
                 h * r.in(0.12F, 0.25F), leaf);
      for (int k = 0; k < 10; ++k)
        add_wire(s, base + vec3{0, h * r.in(0.3F, 0.6F), 0},
                 base + vec3{r.in(-0.4F, 0.4F) * h, h * r.in(0.5F, 1.1F), r.in(-0.4F, 0.4F) * h}, 0.025F, bark);
    }
  }
  s.eye = {r.in(-3, 3), 0, r.in(10, 16)};
  s.eye.y = height(s.eye.x, s.eye.z) + r.in(1.3F, 3);
  s.target = {r.in(-5, 5), s.eye.y + r.in(-0.8F, 0.8F), -10};
  for (int i = 0; i < 1600; ++i) {
    const float x = s.eye.x + r.in(-9, 9);
    const float z = s.eye.z - r.in(1.5F, 16);
    const vec3 base{x, height(x, z) - 0.02F, z};
    const vec3 tip = base + vec3{r.in(-0.2F, 0.2F), r.in(0.2F, 0.6F), r.in(-0.2F, 0.2F)};
    const vec3 side{r.in(-0.03F, 0.03F), 0, r.in(-0.03F, 0.03F)};
    add_quad(s, base - side, base + side, tip, tip, 0.1F, 1, leaves[static_cast<std::size_t>(r.below(3))]);
  }
  for (int i = 0; i < 14; ++i) {
    const float x = r.in(-12, 12);
    const float z = r.in(-20, 9);
    add_ball(s, {x, height(x, z), z}, r.in(0.2F, 0.9F), stone);
  }
}

inline void build_hall(scene& s, random_source& r) {
  const int floor = add_material(s, r, r.unit() < 0.5F ? pattern::checks : pattern::tiles, r.colour(0.1F, 0.8F),
                                 r.colour(0.05F, 0.5F), 4, 0.8F);
  const int wall = add_material(s, r, r.unit() < 0.5F ? pattern::bricks : pattern::panels, r.colour(0.2F, 0.7F),
                                r.colour(0.2F, 0.7F), 4);
  const int wood = add_material(s, r, pattern::planks, {0.4F, 0.24F, 0.1F}, {0.2F, 0.1F, 0.04F}, 4);
  const int marble = add_material(s, r, pattern::speckle, r.colour(0.4F, 0.9F), r.colour(0.3F, 0.7F), 4, 0.6F);
  add_ground(s, 60, 0, 0.25F, floor);
  add_quad(s, {-9, 0, -25}, {9, 0, -25}, {9, 8, -25}, {-9, 8, -25}, 4, 2, wall);
  add_quad(s, {-9, 0, 15}, {-9, 0, -25}, {-9, 8, -25}, {-9, 8, 15}, 8, 2, wall);
  add_quad(s, {9, 0, -25}, {9, 0, 15}, {9, 8, 15}, {9, 8, -25}, 8, 2, wall);
  add_quad(s, {-9, 8, -25}, {9, 8, -25}, {9, 8, 15}, {-9, 8, 15}, 4, 8, wood);
  for (float z = -22; z < 10; z += 5) {
    for (int side = -1; side <= 1; side += 2) {
      const vec3 base{5.5F * static_cast<float>(side), 0, z};
      add_lathe(s, base, {0.8F, 0.8F, 0.5F, 0.45F, 0.42F, 0.7F, 0.8F}, {0, 0.4F, 0.6F, 3, 6.8F, 7.4F, 8}, 20, 3,
                marble);
      add_wire(s, {8.9F * static_cast<float>(side), 7, z + 2}, {8.9F * static_cast<float>(side), 0, z + 2}, 0.06F,
               wood);
      s.lamps.push_back({{7.5F * static_cast<float>(side), 4, z + 2.5F}, r.colour(0.3F, 3)});
    }
  }
  for (int i = 0; i < 16; ++i) {
    const float size = r.in(0.5F, 1.5F);
    const vec3 base{r.in(-4.5F, 4.5F), 0, r.in(-18, 6)};
    const int m = r.unit() < 0.4F ? wood : random_material(s, r);
    if (r.unit() < 0.7F)
      add_box(s, base, {size, size, size}, r.in(0, 3), 1 / size, m);
    else
      add_lathe(s, base, {0.4F, 0.5F, 0.5F, 0.4F, 0}, {0, 0.3F, 0.8F, 1.1F, 1.1F}, 18, 2, m);
  }
  for (int i = 0; i < 5; ++i) {
    const int art =
        add_material(s, r, r.unit() < 0.5F ? pattern::writing : pattern::stripes, r.colour(0, 1), r.colour(0, 1), 8);
    const float z = r.in(-20, 3);
    const float h = r.in(2, 4);
    add_quad(s, {-8.95F, h, z}, {-8.95F, h, z - 2.5F}, {-8.95F, h + 2, z - 2.5F}, {-8.95F, h + 2, z}, 1, 1, art);
    add_quad(s, {r.in(-6, -2), h, -24.9F}, {r.in(0, 5), h, -24.9F}, {2, h + 2, -24.9F}, {-4, h + 2, -24.9F}, 1, 0.5F,
             art);
  }
  s.eye = {r.in(-3, 3), r.in(1.3F, 4), r.in(8, 13)};
  s.target = {r.in(-3, 3), r.in(1, 4), -8};
  s.fog *= 0.5F;
}

inline void build_toys(scene& s, random_source& r) {
  add_ground(s, 60, r.unit() < 0.5F ? 0.0F : 2.0F, 0.2F, random_material(s, r));
  for (int i = 0; i < 26; ++i) {
    const vec3 base{r.in(-8, 8), 0, r.in(-14, 5)};
    const float size = r.in(0.4F, 2);
    const int m = random_material(s, r);
    switch (r.below(5)) {
      case 0: add_ball(s, base + vec3{0, size, 0}, size, m); break;
      case 1: add_box(s, base, {size, size * r.in(0.5F, 2), size}, r.in(0, 3), 0.6F, m); break;
      case 2: add_lathe(s, base, {size, size * 0.1F, 0}, {0, size * 2, size * 2.1F}, 24, 3, m); break;
      case 3: add_lathe(s, base, {size * 0.5F, size * 0.5F, 0}, {0, size * 2, size * 2}, 24, 2, m); break;
      default:
        for (int k = 0; k < 12; ++k) {
          const float a = static_cast<float>(k) * 0.5236F;
          add_wire(s, base + vec3{0, size, 0},
                   base + vec3{size * std::cos(a), size + size * std::sin(a), size * 0.3F * std::sin(3 * a)}, 0.03F, m);
        }
    }
  }
  s.eye = {r.in(-4, 4), r.in(1.5F, 6), r.in(8, 12)};
  s.target = {r.in(-2, 2), r.in(0, 2), -3};
}

inline scene build_scene(std::uint64_t seed, int kind) {
  random_source r(seed);
  scene s;
  s.salt = static_cast<unsigned>(r.bits());
  const float day = r.unit();
  s.sun = normalise({r.in(-1, 1), r.in(0.35F, 1.2F), r.in(-0.3F, 1)});
  s.sun_colour = mix({2.2F, 1.2F, 0.6F}, {2.4F, 2.2F, 1.9F}, day) * r.in(0.5F, 1.1F);
  s.sky_high = mix({0.08F, 0.12F, 0.3F}, {0.16F, 0.35F, 0.8F}, day);
  s.sky_low = mix({0.9F, 0.5F, 0.3F}, {0.6F, 0.7F, 0.85F}, day) * r.in(0.5F, 1.1F);
  s.ambient = mix(s.sky_high, s.sky_low, 0.5F) * r.in(0.25F, 0.55F);
  s.fog = r.unit() < 0.5F ? r.in(0.004F, 0.02F) : 0.002F;
  s.view_angle = r.in(0.75F, 1.25F);
  switch (kind) {
    case 0: build_street(s, r); break;
    case 1: build_woods(s, r); break;
    case 2: build_hall(s, r); break;
    default: build_toys(s, r); break;
  }
  return s;
}

}  // namespace raster
