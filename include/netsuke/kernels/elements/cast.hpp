// SPDX-License-Identifier: MIT
#pragma once
/// Conversion between element types.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/kernels/elements/element_blocks.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = input, converted to the output's type.
struct cast_args {
  tensor_view input, output;
};

namespace impl {

/// Floats lose their fraction and saturate, NaN gives 0; integers wrap; boolean is x != 0. Without branches, so that
/// loops become vectors.
template <class To, class From>
NSK_INLINE stored<To> converted(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{0} ? std::uint8_t{1} : std::uint8_t{0};
  } else if constexpr (std::is_same_v<From, float> && std::is_integral_v<To>) {
    using limits = std::numeric_limits<To>;
    // The largest float whose integer To holds: of 32 and 64 bits, all ones above the 24 bits of a float are too many.
    constexpr To unheld = limits::digits > 24 ? (To{1} << (limits::digits > 24 ? limits::digits - 24 : 0)) - 1 : 0;
    constexpr float low = static_cast<float>(limits::min()), high = static_cast<float>(limits::max() - unheld);
    const float above = x > low ? x : low;  // NaN gives low
    const To whole = static_cast<To>(above < high ? above : high), limited = x > high ? limits::max() : whole;
    return x == x ? limited : To{0};
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
NSK_NOINLINE inline void cast_elements(const From* from, stored<To>* to, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = converted<To>(from[i]);
}

/// A piece of type From; narrow ones by way of int32, block by block.
template <class From, class To>
inline void cast_piece(const std::byte* piece, stored<To>* to, std::ptrdiff_t count) {
  const stored<From>* const from = elements_of<From>(piece);
  if constexpr (sizeof(From) >= sizeof(std::int32_t)) {
    cast_elements<To>(from, to, count);
  } else {
    std::int32_t wide[block_elements];
    for (std::ptrdiff_t i = 0; i < count; i += block_elements) {
      const std::ptrdiff_t n = count - i < block_elements ? count - i : block_elements;
      widen<From>(from + i, wide, n);
      cast_elements<To>(static_cast<const std::int32_t*>(wide), to + i, n);
    }
  }
}

}

/// output = input, converted to the output's type; any type but float16, equal shapes, any strides.
template <class = void>
inline void cast(const cast_args& a, const tile_range& t, std::byte*) {
  const tensor_view* const inputs[] = {&a.input};
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.input)};
  impl::for_each_piece(a.output, inputs, blocks, t,
                       [&](const std::byte* const(&x)[1], std::byte* to, std::ptrdiff_t count) {
                         impl::visit_type(a.input.type, [&](auto from) {
                           impl::visit_type(a.output.type, [&](auto type) {
                             using To = decltype(type);
                             impl::cast_piece<decltype(from), To>(x[0], reinterpret_cast<impl::stored<To>*>(to), count);
                           });
                         });
                       });
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
