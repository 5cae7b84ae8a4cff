// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution of stored integers.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/quantized_depthwise_conv_2d.hpp>
#include <netsuke/ops/impl/quad_rules.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::quantized_depthwise_conv_2d>
    : impl::never_in_place, impl::nothing_whole, impl::rows_of_images, impl::taps_of_window, impl::one_path {
  using params = quantized_depthwise_conv_2d_params;
  using args = kernels::quantized_depthwise_conv_2d_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::byte_image(), operand::byte_image(), operand::checked_by_rules()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader& constants, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    if (x.shape()[3] != y.shape()[3] || !impl::windows_fit(p.w, x, y) || p.low > p.high || p.weight_offset < -128 ||
        p.weight_offset > 127)
      return status_code::bad_step;
    const std::int64_t channels = y.shape()[3], quads = depthwise_quads(p.w.kernel_h, p.w.kernel_w),
                       offset = p.weight_offset < 0 ? -p.weight_offset : p.weight_offset;
    if (!impl::holds_quads(s.input(1), 1, quad_panel_bytes(channels, quads))) return status_code::bad_weights;
    return impl::check_quad_sums(constants, s.input(1), 1, channels, quads, offset * p.w.kernel_h * p.w.kernel_w);
  }
  template <class Tensor>
  static std::int64_t scratch_bytes(const params& p, const Tensor&, const Tensor&) {
    return kernels::quantized_depthwise_conv_2d_scratch_bytes(p.w, p.weight_offset != 0);
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    const tensor_info weights = s.input(1);
    return {p, kernels::fastest_products(weights.arrangement() == packing::safe_quads, m.native_dot4),
            m.view(s.input(0)), m.view(s.output()), m.constant<std::byte>(weights)};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::quantized_depthwise_conv_2d<impl::quad_support_of<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
