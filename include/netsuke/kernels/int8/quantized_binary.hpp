// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of two tensors that bytes store: their real numbers in float32, and the result stored again; or a sum in
/// fixed point, as LiteRT computes it.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_blocks.hpp>
#include <netsuke/kernels/int8/quantize.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = saturate(zero + round_half_even(((a - a_zero) * a_scale kind (b - b_zero) * b_scale) / scale)) to [low,
/// high]; add, sub or mul of uint8. Each operation rounds to float32. With a shift, output = saturate(zero + floor((a *
/// a_multiplier + b * b_multiplier + bias) / 2^shift)), exactly.
struct quantized_binary_args : quantized_binary_params {
  tensor_view a, b, output;
};

namespace impl {

/// Units of the result by the scales.
template <class Op>
struct scaled_units {
  simd::f32 a_zero, b_zero, a_scale, b_scale, scale, low, high;

  explicit scaled_units(const quantized_binary_params& p)
      : a_zero(simd::splat(static_cast<float>(p.a_zero))),
        b_zero(simd::splat(static_cast<float>(p.b_zero))),
        a_scale(simd::splat(p.a_scale)),
        b_scale(simd::splat(p.b_scale)),
        scale(simd::splat(p.scale)),
        low(simd::splat(-max_units)),
        high(simd::splat(max_units)) {}
  NSK_INLINE simd::f32 operator()(simd::f32 a, simd::f32 b) const {
    const simd::f32 left = simd::mul(simd::sub(a, a_zero), a_scale), right = simd::mul(simd::sub(b, b_zero), b_scale);
    return simd::min(simd::max(simd::div(Op{}(left, right), scale), low), high);
  }
};

/// Units of a sum in fixed point. Multipliers and bias are cut into digits of 10 bits and what is above them, so that
/// float32 holds every product and sum: it is floor((above + floor(digits / 2^10)) / 2^(shift - 10)).
struct fixed_point_units {
  simd::f32 a_above, b_above, bias_above, a_digits, b_digits, bias_digits, stride, last_step;

  explicit fixed_point_units(const quantized_binary_params& p)
      : a_above(above(p.a_multiplier)),
        b_above(above(p.b_multiplier)),
        bias_above(above(p.bias)),
        a_digits(digits(p.a_multiplier)),
        b_digits(digits(p.b_multiplier)),
        bias_digits(digits(p.bias)),
        stride(simd::splat(1.0f / 1024.0f)),
        last_step(simd::splat(1.0f / static_cast<float>(std::uint32_t{1} << (p.shift - 10)))) {}
  NSK_INLINE simd::f32 operator()(simd::f32 a, simd::f32 b) const {
    const simd::f32 low = simd::fma(a, a_digits, simd::fma(b, b_digits, bias_digits)),
                    high = simd::fma(a, a_above, simd::fma(b, b_above, bias_above));
    return simd::floor(simd::mul(simd::add(high, simd::floor(simd::mul(low, stride))), last_step));
  }

 private:
  static constexpr std::int32_t digits_of(std::int32_t x) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) & 1023u);
  }
  static simd::f32 digits(std::int32_t x) { return simd::splat(static_cast<float>(digits_of(x))); }
  static simd::f32 above(std::int32_t x) { return simd::splat(static_cast<float>((x - digits_of(x)) / 1024)); }
};

/// 16 elements at a time. The last 16 are computed before any is stored, so that in place they may overlap those before
/// them; a line of fewer goes by way of one of its own.
template <class Units>
NSK_ONE_COPY inline void quantized_binary_line(const quantized_binary_params& p, const std::uint8_t* a,
                                               const std::uint8_t* b, std::uint8_t* to, std::ptrdiff_t count) {
  using simd::f32;
  constexpr int lanes = f32::lanes, vectors = 16 / lanes;
  const simd::u8_range range{static_cast<std::int16_t>(p.zero), static_cast<std::uint8_t>(p.low),
                             static_cast<std::uint8_t>(p.high)};
  const Units units_of(p);
  struct sixteen {
    f32 units[vectors];
  };
  const auto compute = [&](std::ptrdiff_t i) NSK_INLINE_LAMBDA {
    sixteen r;
    simd::unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
      r.units[v] = units_of(simd::load_u8(a + i + v * lanes), simd::load_u8(b + i + v * lanes));
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
                         using namespace impl;
                         if (a.shift > 0)
                           quantized_binary_line<fixed_point_units>(a, left, right, result, count);
                         else if (a.kind == binary_kind::add)
                           quantized_binary_line<scaled_units<add_numbers>>(a, left, right, result, count);
                         else if (a.kind == binary_kind::sub)
                           quantized_binary_line<scaled_units<sub_numbers>>(a, left, right, result, count);
                         else
                           quantized_binary_line<scaled_units<mul_numbers>>(a, left, right, result, count);
                       });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
