// SPDX-License-Identifier: MIT
#pragma once
/// Conversion between element types.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/fill.hpp>
#include <netsuke/kernels/impl/element_lines.hpp>
#include <netsuke/simd/vec.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = input, converted to the output's type.
struct cast_args {
  tensor_view input, output;
};

namespace impl {

/// Floats lose their fraction and saturate, NaN gives 0; integers wrap; boolean is x != 0.
template <class To, class From>
inline To converted(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_same_v<From, float> && std::is_integral_v<To>) {
    // The bounds as floats: the lower one is exact, the upper one rounds up to a power of two.
    constexpr float low = static_cast<float>(std::numeric_limits<To>::min()),
                    high = static_cast<float>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    if (!(x == x)) return 0;
    if (x <= low) return std::numeric_limits<To>::min();
    return x >= high ? std::numeric_limits<To>::max() : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

/// Elements that are converted together: read as float or int64, whichever holds them, then written.
inline constexpr std::ptrdiff_t cast_block = 64;

template <class Wide, class From>
inline void read_block(const std::byte* data, std::ptrdiff_t at, std::ptrdiff_t step, std::ptrdiff_t count, Wide* to) {
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = static_cast<Wide>(element<From>(data, at + i * step));
}

template <class Wide>
NSK_ONE_COPY inline void write_block(const tensor_view& output, std::ptrdiff_t at, std::ptrdiff_t step,
                                     std::ptrdiff_t count, const Wide* from) {
  visit_type(output.type, [&](auto to) {
    for (std::ptrdiff_t i = 0; i < count; ++i)
      put_element(output.data, at + i * step, converted<decltype(to)>(from[i]));
  });
}

/// Integers of at most 32 bits, and booleans, next to each other as floats next to each other: what images are.
template <class From>
inline void cast_narrow_line(const cast_args& a, const element_line<2>& l) {
  std::int32_t block[cast_block];
  for (std::ptrdiff_t i = 0; i < l.count; i += cast_block) {
    const std::ptrdiff_t n = l.count - i < cast_block ? l.count - i : cast_block;
    read_block<std::int32_t, From>(a.input.data, l.at[1] + i, 1, n, block);
    float* const to = a.output.as<float>() + l.at[0] + i;
    std::ptrdiff_t k = 0;
    for (; k + simd::f32::lanes <= n; k += simd::f32::lanes)
      simd::store(to + k, simd::to_f32(simd::load_i32(block + k)));
    for (; k < n; ++k) to[k] = static_cast<float>(block[k]);
  }
}
/// Whether `line` was one of those and is done.
inline bool cast_to_floats(const cast_args& a, const element_line<2>& l) {
  if (a.output.type != dtype::float32 || l.step[0] != 1 || l.step[1] != 1) return false;
  bool done = false;
  visit_type(a.input.type, [&](auto from) {
    using type = decltype(from);
    if constexpr (!std::is_same_v<type, float> && sizeof(type) <= sizeof(std::int32_t)) {
      cast_narrow_line<type>(a, l);
      done = true;
    }
  });
  return done;
}

template <class Wide>
inline void cast_line(const cast_args& a, const element_line<2>& l) {
  Wide block[cast_block];
  for (std::ptrdiff_t i = 0; i < l.count; i += cast_block) {
    const std::ptrdiff_t n = l.count - i < cast_block ? l.count - i : cast_block;
    if constexpr (std::is_same_v<Wide, float>)
      read_block<Wide, float>(a.input.data, l.at[1] + i * l.step[1], l.step[1], n, block);
    else
      visit_type(a.input.type, [&](auto from) {
        if constexpr (!std::is_same_v<decltype(from), float>)
          read_block<Wide, decltype(from)>(a.input.data, l.at[1] + i * l.step[1], l.step[1], n, block);
      });
    write_block(a.output, l.at[0] + i * l.step[0], l.step[0], n, block);
  }
}

}

/// output = input, converted to the output's type; any type but float16, equal shapes, any strides.
template <class = void>
inline void cast(const cast_args& a, const tile_range& t, std::byte*) {
  const std::ptrdiff_t* strides[] = {a.output.stride, a.input.stride};
  impl::for_each_line(a.output, strides, t, [&](const impl::element_line<2>& l) {
    if (a.input.type == dtype::float32)
      impl::cast_line<float>(a, l);
    else if (!impl::cast_to_floats(a, l))
      impl::cast_line<std::int64_t>(a, l);
  });
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
