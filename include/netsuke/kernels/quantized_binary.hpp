// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of two tensors that bytes store: their real numbers in float32, and the result stored again.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/impl/element_blocks.hpp>
#include <netsuke/kernels/quantize.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = saturate(zero + round_half_even(((a - a_zero) * a_scale kind (b - b_zero) * b_scale) / scale)) to [low,
/// high]; add, sub or mul of uint8. Each operation rounds to float32.
struct quantized_binary_args : quantized_binary_params {
  tensor_view a, b, output;
};

namespace impl {

/// 16 elements at a time. The last 16 are computed before any is stored, so that in place they may overlap those before
/// them; a line of fewer goes by way of one of its own.
template <class Op>
NSK_ONE_COPY inline void quantized_binary_line(const quantized_binary_params& p, const std::uint8_t* a,
                                               const std::uint8_t* b, std::uint8_t* to, std::ptrdiff_t count, Op op) {
  using simd::f32;
  constexpr int lanes = f32::lanes, vectors = 16 / lanes;
  const simd::u8_range range{static_cast<std::int16_t>(p.zero), static_cast<std::uint8_t>(p.low),
                             static_cast<std::uint8_t>(p.high)};
  const f32 a_zero = simd::splat(static_cast<float>(p.a_zero)), b_zero = simd::splat(static_cast<float>(p.b_zero)),
            a_scale = simd::splat(p.a_scale), b_scale = simd::splat(p.b_scale), scale = simd::splat(p.scale),
            low = simd::splat(-max_units), high = simd::splat(max_units);
  struct sixteen {
    f32 units[vectors];
  };
  const auto compute = [&](std::ptrdiff_t i) NSK_INLINE_LAMBDA {
    sixteen r;
    simd::unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
      const f32 left = simd::mul(simd::sub(simd::load_u8(a + i + v * lanes), a_zero), a_scale),
                right = simd::mul(simd::sub(simd::load_u8(b + i + v * lanes), b_zero), b_scale);
      r.units[v] = simd::min(simd::max(simd::div(op(left, right), scale), low), high);
    });
    return r;
  };
  if (count < 16) {
    std::uint8_t line[16];
    simd::store16_u8(line, compute(0).units, range);
    return simd::copy_bytes(to, line, count);
  }
  const sixteen last = compute(count - 16);
  for (std::ptrdiff_t i = 0; i + 16 < count; i += 16) simd::store16_u8(to + i, compute(i).units, range);
  simd::store16_u8(to + count - 16, last.units, range);
}

struct add_numbers {
  NSK_INLINE simd::f32 operator()(simd::f32 a, simd::f32 b) const { return simd::add(a, b); }
};
struct sub_numbers {
  NSK_INLINE simd::f32 operator()(simd::f32 a, simd::f32 b) const { return simd::sub(a, b); }
};
struct mul_numbers {
  NSK_INLINE simd::f32 operator()(simd::f32 a, simd::f32 b) const { return simd::mul(a, b); }
};

}

/// Computes the elements of one tile. Equal shapes, any strides. The output may be one of the inputs. Up to `over_read`
/// bytes past the end of the inputs may be read.
template <class = void>
inline void quantized_binary(const quantized_binary_args& a, const tile_range& t, std::byte*) {
  const tensor_view* const inputs[] = {&a.a, &a.b};
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.a), impl::operand_blocks(a.b)};
  impl::for_each_piece(a.output, inputs, blocks, t,
                       [&](const std::byte* const(&x)[2], std::byte* to, std::ptrdiff_t count) {
                         const auto *left = reinterpret_cast<const std::uint8_t*>(x[0]),
                                    *right = reinterpret_cast<const std::uint8_t*>(x[1]);
                         auto* result = reinterpret_cast<std::uint8_t*>(to);
                         if (a.kind == binary_kind::add)
                           impl::quantized_binary_line(a, left, right, result, count, impl::add_numbers{});
                         else if (a.kind == binary_kind::sub)
                           impl::quantized_binary_line(a, left, right, result, count, impl::sub_numbers{});
                         else
                           impl::quantized_binary_line(a, left, right, result, count, impl::mul_numbers{});
                       });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
