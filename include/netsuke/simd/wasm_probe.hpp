// SPDX-License-Identifier: MIT
#pragma once
/// WebAssembly's intrinsics, and what a module with relaxed SIMD asks of its compiler.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <wasm_simd128.h>

NSK_BEGIN
#if defined(__wasm_relaxed_simd__)
namespace simd {
namespace impl {

/// Returns whether the compiler leaves `a > b ? a : b` of a plain loop as it is. With -mrelaxed-simd, LLVM 22 makes
/// relaxed_max and relaxed_min of it where it vectorises; what these give for zeros of both signs and NaN is the
/// engine's choice. -fno-vectorize -fno-slp-vectorize prevents that.
inline bool keeps_selects() {
  constexpr int count = 32;
  const volatile float zero = 0.0f, negative_zero = -0.0f;
  float above[count], below[count];
  for (int i = 0; i < count; ++i) {
    const float first = i % 2 != 0 ? zero : negative_zero;
    above[i] = below[i] = i % 4 < 2 ? first : zero / negative_zero;  // the quotient is NaN
  }
  const float high = zero, low = negative_zero;
  for (float& x : above) x = x > high ? x : high;
  for (float& x : below) x = x < low ? x : low;
  for (int i = 0; i < count; ++i)
    if (std::memcmp(&above[i], &high, sizeof high) != 0 || std::memcmp(&below[i], &low, sizeof low) != 0) return false;
  return true;
}

}
}
#endif
NSK_END
#include <netsuke/core/restore_macros.hpp>
