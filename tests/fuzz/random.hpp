// SPDX-License-Identifier: MIT
#pragma once
/// Random numbers that are the same every time, and numbers that break things.
#include <cstddef>
#include <cstdint>

namespace fuzz {

/// Makes random numbers; `state` makes them.
struct generator {
  std::uint64_t state;
  std::uint64_t operator()() {  // splitmix64
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
};

/// Numbers at which arithmetic breaks, and small ones that are likely to be indices, counts and shapes.
inline std::uint64_t interesting(generator& random) {
  // clang-format off
  static const std::uint64_t values[] = {
      0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x7fffffff,
      0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
      0xffffffffffffffc0, 0x3fffffff, 0x40000000};
  // clang-format on
  const std::uint64_t value = values[random.below(sizeof values / sizeof *values)];
  return random.one_in(4) ? ~value + 1 : value;
}

/// Bits of a float32 that breaks scales: zero, subnormal, negative, infinite, no number, the smallest and the largest.
inline std::uint64_t strange_float(generator& random) {
  static const std::uint32_t bits[] = {0,          0x80000000, 1,          0x007fffff, 0x00800000, 0xbf800000,
                                       0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0x4f000000};
  return bits[random.below(sizeof bits / sizeof *bits)];
}

/// Changes one number: mostly by little.
template <class T>
void mutate(generator& random, T& value) {
  auto bits = static_cast<std::uint64_t>(value);
  switch (random.below(8)) {
    case 0: bits = interesting(random); break;
    case 1: bits *= 2; break;
    case 2: bits /= 2; break;
    case 3: bits = 0; break;
    case 4: bits += 64 * (1 + random.below(8)); break;
    case 5: bits -= 64 * (1 + random.below(8)); break;
    case 6: bits += 1 + random.below(4); break;
    default: bits -= 1 + random.below(4); break;
  }
  value = static_cast<T>(bits);
}

}
