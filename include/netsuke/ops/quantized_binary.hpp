// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of two tensors that bytes store.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/quantized_binary.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::quantized_binary> : impl::in_place_of<2>,
                                         impl::nothing_whole,
                                         impl::rows_of_inputs<2>,
                                         impl::without_scratch,
                                         impl::one_tap,
                                         impl::one_path {
  using params = quantized_binary_params;
  using args = kernels::quantized_binary_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand input = operand::of(dtype::uint8).of_output_shape();
    return {operand::of(dtype::uint8), input, input};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view&, const params& p) {
    if (p.shift != 0) return impl::accepted(is_fixed_point(p));
    const bool known = p.kind == binary_kind::add || p.kind == binary_kind::sub || p.kind == binary_kind::mul;
    return impl::accepted(known && p.low <= p.high && impl::is_scale(p.a_scale) && impl::is_scale(p.b_scale) &&
                          impl::is_scale(p.scale));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::quantized_binary(a, range, scratch);
  }

 private:
  /// Whether float32 holds the parts of a sum in fixed point. Scales of 0 make older engines refuse the step.
  static constexpr bool is_fixed_point(const params& p) {
    constexpr std::int32_t maximum = 1 << 21;
    const auto fits = [&](std::int32_t m) { return m >= -maximum && m <= maximum; };
    return p.kind == binary_kind::add && p.low <= p.high && p.shift >= 10 && p.shift <= 31 && fits(p.a_multiplier) &&
           fits(p.b_multiplier) && p.a_scale == 0 && p.b_scale == 0 && p.scale == 0 && p.a_zero == 0 && p.b_zero == 0;
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
