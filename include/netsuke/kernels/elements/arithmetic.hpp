// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic on integers and booleans.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <type_traits>
#include <netsuke/core/flags.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_blocks.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = a kind b for int32, int64 and boolean.
struct arithmetic_args : arithmetic_params {
  tensor_view a, b, output;
  std::uint32_t* flags;
};

namespace impl {

/// All ones where a condition holds.
template <class T>
NSK_INLINE T ones_where(bool condition) {
  return static_cast<T>(T{0} - static_cast<T>(condition));
}

/// x / y towards zero, modulo 2^bits (the lowest number divided by -1 is itself), and 0 where y is 0. Bits in place of
/// conditions, so that loops become vectors; doubles hold every quotient of 32 bits closely enough.
template <class T>
NSK_INLINE T quotient(T x, T y) {
  using U = std::make_unsigned_t<T>;
  const U zero = ones_where<U>(y == 0), minus = ones_where<U>(y == T{-1});
  const T divisor = static_cast<T>(static_cast<U>(y) - zero - minus - minus);  // 1 for both
  T result;
  if constexpr (sizeof(T) <= 4)
    result = static_cast<T>(static_cast<double>(x) / static_cast<double>(divisor));
  else
    result = static_cast<T>(x / divisor);
  return static_cast<T>(((static_cast<U>(result) ^ minus) - minus) & ~zero);
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

/// x Kind y of two integers; they wrap. Quotients and remainders by 0 are 0.
template <arithmetic_kind Kind, class T>
NSK_INLINE T calculated(T x, T y, bool& zero) {
  using U = std::make_unsigned_t<T>;
  const U a = static_cast<U>(x), b = static_cast<U>(y);
  if constexpr (Kind == arithmetic_kind::add) return static_cast<T>(a + b);
  if constexpr (Kind == arithmetic_kind::sub) return static_cast<T>(a - b);
  if constexpr (Kind == arithmetic_kind::mul) return static_cast<T>(a * b);
  if constexpr (Kind == arithmetic_kind::min) return y < x ? y : x;
  if constexpr (Kind == arithmetic_kind::max) return x < y ? y : x;
  if constexpr (Kind == arithmetic_kind::bit_and) return static_cast<T>(a & b);
  if constexpr (Kind == arithmetic_kind::bit_or) return static_cast<T>(a | b);
  if constexpr (Kind == arithmetic_kind::bit_xor) return static_cast<T>(a ^ b);
  if constexpr (Kind == arithmetic_kind::pow) return power(x, y, zero);
  const T whole = quotient(x, y);
  if constexpr (Kind == arithmetic_kind::div) return whole;
  const U rest = (a - static_cast<U>(whole) * b) & ~ones_where<U>(y == 0);
  if constexpr (Kind == arithmetic_kind::fmod) return static_cast<T>(rest);
  const U moves = ones_where<U>(static_cast<T>(rest ^ b) < 0) & ones_where<U>(rest != 0);
  return static_cast<T>(rest + (b & moves));
}

/// to = x Kind y, `count` of each. Returns whether one divided by 0.
template <arithmetic_kind Kind, class T>
NSK_NOINLINE inline bool calculate(const T* x, const T* y, T* to, std::ptrdiff_t count) {
  bool zero = false;
  if constexpr (Kind == arithmetic_kind::div || Kind == arithmetic_kind::mod || Kind == arithmetic_kind::fmod) {
    T zeros = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) zeros = static_cast<T>(zeros | (y[i] == 0 ? T{1} : T{0}));
    zero = zeros != 0;
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = calculated<Kind>(x[i], y[i], zero);
  return zero;
}

/// to = x Kind y for booleans, which know the bit operations only.
template <arithmetic_kind Kind>
NSK_NOINLINE inline void calculate_bits(const std::uint8_t* x, const std::uint8_t* y, std::uint8_t* to,
                                        std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const bool a = x[i] != 0, b = y[i] != 0;
    to[i] = Kind == arithmetic_kind::bit_and ? a & b : Kind == arithmetic_kind::bit_or ? a | b : a != b;
  }
}

template <class T>
inline bool calculate(arithmetic_kind kind, const T* x, const T* y, T* to, std::ptrdiff_t count) {
  switch (kind) {
    case arithmetic_kind::add: return calculate<arithmetic_kind::add>(x, y, to, count);
    case arithmetic_kind::sub: return calculate<arithmetic_kind::sub>(x, y, to, count);
    case arithmetic_kind::mul: return calculate<arithmetic_kind::mul>(x, y, to, count);
    case arithmetic_kind::min: return calculate<arithmetic_kind::min>(x, y, to, count);
    case arithmetic_kind::max: return calculate<arithmetic_kind::max>(x, y, to, count);
    case arithmetic_kind::bit_and: return calculate<arithmetic_kind::bit_and>(x, y, to, count);
    case arithmetic_kind::bit_or: return calculate<arithmetic_kind::bit_or>(x, y, to, count);
    case arithmetic_kind::bit_xor: return calculate<arithmetic_kind::bit_xor>(x, y, to, count);
    case arithmetic_kind::pow: return calculate<arithmetic_kind::pow>(x, y, to, count);
    case arithmetic_kind::div: return calculate<arithmetic_kind::div>(x, y, to, count);
    case arithmetic_kind::mod: return calculate<arithmetic_kind::mod>(x, y, to, count);
    case arithmetic_kind::fmod: break;
  }
  return calculate<arithmetic_kind::fmod>(x, y, to, count);
}
inline bool calculate_booleans(arithmetic_kind kind, const std::uint8_t* x, const std::uint8_t* y, std::uint8_t* to,
                               std::ptrdiff_t count) {
  if (kind == arithmetic_kind::bit_and)
    calculate_bits<arithmetic_kind::bit_and>(x, y, to, count);
  else if (kind == arithmetic_kind::bit_or)
    calculate_bits<arithmetic_kind::bit_or>(x, y, to, count);
  else
    calculate_bits<arithmetic_kind::bit_xor>(x, y, to, count);
  return false;
}

/// to = x[0] a.kind x[1] for a piece of any type. Returns whether one divided by 0.
inline bool calculate(const arithmetic_args& a, const std::byte* const (&x)[2], std::byte* to, std::ptrdiff_t count) {
  switch (a.output.type) {
    case dtype::int64:
      return calculate(a.kind, elements_of<std::int64_t>(x[0]), elements_of<std::int64_t>(x[1]),
                       reinterpret_cast<std::int64_t*>(to), count);
    case dtype::int32:
      return calculate(a.kind, elements_of<std::int32_t>(x[0]), elements_of<std::int32_t>(x[1]),
                       reinterpret_cast<std::int32_t*>(to), count);
    default:
      return calculate_booleans(a.kind, elements_of<bool>(x[0]), elements_of<bool>(x[1]),
                                reinterpret_cast<std::uint8_t*>(to), count);
  }
}

}

/// output = a kind b; int32, int64 or boolean, all of one type, equal shapes, any strides, 0 where an operand is
/// broadcast.
template <class = void>
inline void arithmetic(const arithmetic_args& a, const tile_range& t, std::byte*) {
  const tensor_view* const inputs[] = {&a.a, &a.b};
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.a), impl::operand_blocks(a.b)};
  bool zero = false;
  impl::for_each_piece(a.output, inputs, blocks, t,
                       [&](const std::byte* const(&x)[2], std::byte* to, std::ptrdiff_t count) {
                         zero = impl::calculate(a, x, to, count) || zero;
                       });
  if (zero) raise(a.flags, division_by_zero);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
