// SPDX-License-Identifier: MIT
#pragma once
/// Between real numbers and the bytes that store them: real = scale * (stored - zero).
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/kernels/elements/element_blocks.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output (uint8 or int8) = saturate(zero + round_half_even(input / scale)) to [low, high]; NaN becomes low.
struct quantize_args : quantize_params {
  tensor_view input, output;
};
/// Float output = (input - zero) * scale of uint8 or int8.
struct dequantize_args : dequantize_params {
  tensor_view input, output;
};

namespace impl {

/// Beyond any byte, and far inside int32: what rounds to more than that is stored as it is.
inline constexpr float max_units = 65536;

/// Stores `count` numbers; those of int8 as uint8 that is 128 larger, whose top bit is flipped.
NSK_ONE_COPY inline void quantize_line(const quantize_params& p, const float* from, std::uint8_t* to,
                                       std::ptrdiff_t count, bool is_signed) {
  using simd::f32;
  constexpr int lanes = f32::lanes, vectors = 16 / lanes;
  const int offset = is_signed ? 128 : 0;
  const simd::u8_range range{static_cast<std::int16_t>(p.zero + offset), static_cast<std::uint8_t>(p.low + offset),
                             static_cast<std::uint8_t>(p.high + offset)};
  const f32 scale = simd::splat(p.scale), low = simd::splat(-max_units), high = simd::splat(max_units);
  for (std::ptrdiff_t i = 0; i < count; i += 16) {
    const std::ptrdiff_t n = count - i < 16 ? count - i : 16;
    float line[16];
    const float* x = from + i;
    if (n < 16) {
      for (std::ptrdiff_t k = 0; k < 16; ++k) line[k] = k < n ? x[k] : 0;
      x = line;
    }
    f32 units[vectors];
    simd::unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
      const f32 quotient = simd::div(simd::load(x + v * lanes), scale);
      units[v] = simd::min(simd::max(quotient, low), high);
    });
    if (n == 16 && !is_signed) {
      simd::store16_u8(to + i, units, range);
      continue;
    }
    std::uint8_t bytes[16];
    simd::store16_u8(bytes, units, range);
    if (is_signed)
      for (std::uint8_t& b : bytes) b ^= 128;
    simd::copy_bytes(to + i, bytes, n);
  }
}

NSK_ONE_COPY inline void dequantize_line(const dequantize_params& p, const std::int32_t* from, float* to,
                                         std::ptrdiff_t count) {
  using simd::f32;
  constexpr std::ptrdiff_t lanes = f32::lanes;
  const f32 scale = simd::splat(p.scale), zero = simd::splat(static_cast<float>(p.zero));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes)  // differences of bytes are exact
    simd::store(to + i, simd::mul(simd::sub(simd::to_f32(simd::load_i32(from + i)), zero), scale));
  for (; i < count; ++i) to[i] = static_cast<float>(from[i] - p.zero) * p.scale;
}

}

/// Stores the elements of one tile as bytes. Equal shapes, any strides.
template <class = void>
inline void quantize(const quantize_args& a, const tile_range& t, std::byte*) {
  const tensor_view* const inputs[] = {&a.input};
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.input)};
  impl::for_each_piece(a.output, inputs, blocks, t,
                       [&](const std::byte* const(&x)[1], std::byte* to, std::ptrdiff_t count) {
                         impl::quantize_line(a, impl::elements_of<float>(x[0]), reinterpret_cast<std::uint8_t*>(to),
                                             count, a.output.type == dtype::int8);
                       });
}

/// Computes the real numbers of one tile. Equal shapes, any strides.
template <class = void>
inline void dequantize(const dequantize_args& a, const tile_range& t, std::byte*) {
  const tensor_view* const inputs[] = {&a.input};
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.input)};
  impl::for_each_piece(
      a.output, inputs, blocks, t, [&](const std::byte* const(&x)[1], std::byte* to, std::ptrdiff_t count) {
        std::int32_t wide[impl::block_elements];
        for (std::ptrdiff_t i = 0; i < count; i += impl::block_elements) {
          const std::ptrdiff_t left = count - i, n = left < impl::block_elements ? left : impl::block_elements;
          if (a.input.type == dtype::int8)
            impl::widen<std::int8_t>(impl::elements_of<std::int8_t>(x[0]) + i, wide, n);
          else
            impl::widen<std::uint8_t>(impl::elements_of<std::uint8_t>(x[0]) + i, wide, n);
          impl::dequantize_line(a, wide, reinterpret_cast<float*>(to) + i, n);
        }
      });
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
