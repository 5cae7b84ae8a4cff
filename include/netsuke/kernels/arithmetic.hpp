// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic on integers and booleans.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <type_traits>
#include <netsuke/core/flags.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/impl/element_lines.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = a kind b for int32, int64 and boolean.
struct arithmetic_args : arithmetic_params {
  tensor_view a, b, output;
  std::uint32_t* flags;
};

namespace impl {

/// x / y towards zero, modulo 2^bits (the lowest number divided by -1 is itself); y is not 0.
template <class T>
inline T quotient(T x, T y) {
  return y == T{-1} ? static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(x))
                    : static_cast<T>(x / y);
}
template <class T>
inline T remainder(T x, T y) {
  return y == T{-1} ? T{0} : static_cast<T>(x % y);
}

/// x^y, modulo 2^bits. Negative exponents: 1 / x^-y towards zero, and 0 with `zero` set where x is 0.
template <class T>
inline T power(T x, T y, bool& zero) {
  using U = std::make_unsigned_t<T>;
  if (y < 0) {
    zero = zero || x == 0;
    return x == 1 || (x == T{-1} && y % 2 == 0) ? T{1} : x == T{-1} ? x : T{0};
  }
  U result = 1, square = static_cast<U>(x);
  for (U left = static_cast<U>(y); left != 0; left >>= 1, square *= square)
    if ((left & 1) != 0) result *= square;
  return static_cast<T>(result);
}

/// x kind y for integers; they wrap. `zero` is set where the divisor is 0.
template <class T>
inline T calculated(arithmetic_kind kind, T x, T y, bool& zero) {
  using U = std::make_unsigned_t<T>;
  const U a = static_cast<U>(x), b = static_cast<U>(y);
  switch (kind) {
    case arithmetic_kind::add: return static_cast<T>(a + b);
    case arithmetic_kind::sub: return static_cast<T>(a - b);
    case arithmetic_kind::mul: return static_cast<T>(a * b);
    case arithmetic_kind::min: return y < x ? y : x;
    case arithmetic_kind::max: return x < y ? y : x;
    case arithmetic_kind::bit_and: return static_cast<T>(a & b);
    case arithmetic_kind::bit_or: return static_cast<T>(a | b);
    case arithmetic_kind::bit_xor: return static_cast<T>(a ^ b);
    case arithmetic_kind::pow: return power(x, y, zero);
    case arithmetic_kind::div:
    case arithmetic_kind::mod:
    case arithmetic_kind::fmod: break;
  }
  zero = zero || y == 0;
  if (y == 0) return 0;
  if (kind == arithmetic_kind::div) return quotient(x, y);
  const T rest = remainder(x, y);
  return kind == arithmetic_kind::mod && rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
}
/// Booleans know the bit operations only.
inline bool calculated(arithmetic_kind kind, bool x, bool y, bool&) {
  return kind == arithmetic_kind::bit_and ? x && y : kind == arithmetic_kind::bit_or ? x || y : x != y;
}

template <class T>
inline void arithmetic_tile(const arithmetic_args& a, const tile_range& t) {
  const std::ptrdiff_t* strides[] = {a.output.stride, a.a.stride, a.b.stride};
  bool zero = false;
  for_each_line(a.output, strides, t, [&](const element_line<3>& l) {
    for (std::ptrdiff_t i = 0; i < l.count; ++i) {
      const T x = element<T>(a.a.data, l.at[1] + i * l.step[1]), y = element<T>(a.b.data, l.at[2] + i * l.step[2]);
      put_element(a.output.data, l.at[0] + i * l.step[0], calculated(a.kind, x, y, zero));
    }
  });
  if (zero) raise(a.flags, division_by_zero);
}

}

/// output = a kind b; int32, int64 or boolean, all of one type, equal shapes, any strides, 0 where an operand is
/// broadcast.
template <class = void>
inline void arithmetic(const arithmetic_args& a, const tile_range& t, std::byte*) {
  if (a.output.type == dtype::int64) return impl::arithmetic_tile<std::int64_t>(a, t);
  if (a.output.type == dtype::int32) return impl::arithmetic_tile<std::int32_t>(a, t);
  impl::arithmetic_tile<bool>(a, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
