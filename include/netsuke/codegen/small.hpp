// SPDX-License-Identifier: MIT
#pragma once
/// Small forms of kernels for generated networks: every length is a constant, so that a step of a few numbers is a few
/// instructions. Operations and their order are those of the kernels of the same name: the same bits.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/math/functions.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace codegen {
namespace impl {
using simd::f32;

/// Columns of packed weights [depth][channels], register by register, whatever their panels.
template <int Depth, int Channels>
struct columns {
  static constexpr int padded = static_cast<int>(padded_channels(Channels));
  static constexpr int registers = (padded + f32::lanes - 1) / f32::lanes;
  /// As many chains as hide the latency of one, and at most what the registers hold beside weights and an input.
  static constexpr int maximum = f32::registers >= 32 ? 16 : 8;
  static constexpr int groups = (registers + maximum - 1) / maximum;
  static constexpr int in_group = (registers + groups - 1) / groups;

  static constexpr int panel(int r) {
    const int last = static_cast<int>(panel_count(Channels)) - 1, p = r * f32::lanes / panel_width;
    return p < last ? p : last;
  }
  static constexpr int width(int r) { return static_cast<int>(width_of_panel(Channels, panel(r))); }
  /// Floats from the start of the weights to the bias of a register; its weights follow `width` floats behind it.
  static constexpr std::ptrdiff_t bias(int r) {
    return std::ptrdiff_t{panel_width} * panel(r) * (Depth + 1) + (r * f32::lanes - panel_width * panel(r));
  }
  /// Whether a register reaches past its panel.
  static constexpr bool is_low(int r) { return (r + 1) * f32::lanes > padded; }
};

/// Whether a function is a few instructions, done before a result is stored.
constexpr bool is_short(function f) {
  return f == function::identity || f == function::clip || f == function::leaky_relu || f == function::hard_swish;
}

/// Stores a register of `Channels` results from column `Column` on.
template <int Channels, int Column>
NSK_INLINE void store_columns(float* y, f32 x) {
  if constexpr (Column + f32::lanes <= Channels)
    simd::store(y + Column, x);
  else if constexpr (Column < Channels)
    simd::store_partial(y + Column, Channels - Column, x);
}

/// `Count` registers of results from register `First` on: chains of fused multiply-adds that begin with the bias.
template <int Depth, int Channels, int First, int Count, class F>
NSK_INLINE void dense_registers(const float* x, const float* weights, float* y, F f) {
  using c = columns<Depth, Channels>;
  f32 sum[Count];
  simd::unroll<Count>([&](auto i) NSK_INLINE_LAMBDA { sum[i] = simd::load(weights + c::bias(First + i)); });
  const auto multiply = [&](std::ptrdiff_t k) NSK_INLINE_LAMBDA {
    const f32 a = simd::broadcast(x + k);
    simd::unroll<Count>([&](auto i) NSK_INLINE_LAMBDA {
      constexpr int r = First + i;
      const float* const w = weights + c::bias(r) + (k + 1) * c::width(r);
      if constexpr (c::is_low(r))
        sum[i] = simd::fma_low(a, simd::load_low(w), sum[i]);
      else
        sum[i] = simd::fma(a, simd::load(w), sum[i]);
    });
  };
  if constexpr (Depth * Count <= 64)
    simd::unroll<Depth>([&](auto k) NSK_INLINE_LAMBDA { multiply(k); });
  else
    for (std::ptrdiff_t k = 0; k < Depth; ++k) multiply(k);
  simd::unroll<Count>([&](auto i)
                          NSK_INLINE_LAMBDA { store_columns<Channels, (First + i) * f32::lanes>(y, f(sum[i])); });
}

}

/// y[i] = F(x[i]) for `Count` floats; y may be x. alpha and beta are the function's parameters.
template <function F, int Count>
inline void map(const float* x, float* y, float alpha = 0, float beta = 0) {
  using simd::f32;
  const math::applied<F> f{simd::splat(alpha), simd::splat(beta)};
  constexpr int whole = Count / f32::lanes, rest = Count % f32::lanes;
  const auto one = [&](std::ptrdiff_t i) NSK_INLINE_LAMBDA { simd::store(y + i, f(simd::load(x + i))); };
  if constexpr (whole <= 2)
    simd::unroll<whole>([&](auto i) NSK_INLINE_LAMBDA { one(i * f32::lanes); });
  else
    for (std::ptrdiff_t i = 0; i < whole * f32::lanes; i += f32::lanes) one(i);
  if constexpr (rest > 0) {
    constexpr std::ptrdiff_t i = whole * f32::lanes;
    simd::store_partial(y + i, rest, f(simd::load_partial(x + i, rest)));
  }
}

/// y[n] = F(bias[n] + sum over k of x[k] * weights[k][n]): one row of fully_connected, weights packed in panels
/// (format/packing.hpp). x is not y.
template <int Depth, int Channels, function F = function::identity>
inline void dense(const float* x, const float* weights, float* y, float alpha = 0, float beta = 0) {
  using simd::f32;
  using c = impl::columns<Depth, Channels>;
  constexpr bool at_once = impl::is_short(F) || c::registers <= 2;
  const math::applied<at_once ? F : function::identity> f{simd::splat(alpha), simd::splat(beta)};
  simd::unroll<c::groups>([&](auto g) NSK_INLINE_LAMBDA {
    constexpr int first = g * c::in_group, left = c::registers - first;
    impl::dense_registers<Depth, Channels, first, (left < c::in_group ? left : c::in_group)>(x, weights, y, f);
  });
  if constexpr (!at_once) map<F, Channels>(y, y, alpha, beta);
}

/// x op y, as kernels/elements/binary.hpp has it.
template <binary_kind Kind>
NSK_INLINE simd::f32 combined(simd::f32 x, simd::f32 y) {
  if constexpr (Kind == binary_kind::add)
    return simd::add(x, y);
  else if constexpr (Kind == binary_kind::sub)
    return simd::sub(x, y);
  else if constexpr (Kind == binary_kind::mul)
    return simd::mul(x, y);
  else if constexpr (Kind == binary_kind::div)
    return simd::div(x, y);
  else if constexpr (Kind == binary_kind::min)
    return simd::min(x, y);
  else if constexpr (Kind == binary_kind::max)
    return simd::max(x, y);
  else if constexpr (Kind == binary_kind::pow)
    return math::pow(x, y);
  else if constexpr (Kind == binary_kind::prelu)
    return math::leaky_relu(x, y);
  else if constexpr (Kind == binary_kind::atan2)
    return math::atan2(x, y);
  else if constexpr (Kind == binary_kind::mod)
    return math::mod(x, y);
  else {
    static_assert(Kind == binary_kind::fmod, "a kind without a small form");
    return math::fmod(x, y);
  }
}

/// y[i] = F(a[i] op b[i]) for `Count` floats; y may be a or b. With a step of 0 an operand is one number.
template <binary_kind Kind, int Count, int StepA = 1, int StepB = 1, function F = function::identity>
inline void combine(const float* a, const float* b, float* y, float alpha = 0, float beta = 0) {
  using simd::f32;
  static_assert((StepA == 0 || StepA == 1) && (StepB == 0 || StepB == 1));
  const math::applied<F> f{simd::splat(alpha), simd::splat(beta)};
  const f32 one_a = simd::broadcast(a), one_b = simd::broadcast(b);
  constexpr int whole = Count / f32::lanes * f32::lanes, rest = Count % f32::lanes;
  for (std::ptrdiff_t i = 0; i < whole; i += f32::lanes) {
    const f32 x = StepA == 0 ? one_a : simd::load(a + i), z = StepB == 0 ? one_b : simd::load(b + i);
    simd::store(y + i, f(combined<Kind>(x, z)));
  }
  if constexpr (rest > 0) {
    const f32 x = StepA == 0 ? one_a : simd::load_partial(a + whole, rest);
    const f32 z = StepB == 0 ? one_b : simd::load_partial(b + whole, rest);
    simd::store_partial(y + whole, rest, f(combined<Kind>(x, z)));
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
