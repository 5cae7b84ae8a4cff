// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution of stored integers.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/quantized_conv_2d.hpp>
#include <netsuke/ops/impl/quad_rules.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::quantized_conv_2d> : impl::quad_layer<quantized_conv_2d_params>, impl::one_path {
  using params = quantized_conv_2d_params;
  using args = kernels::quantized_conv_2d_args;

  static constexpr bool has_residual(const params& p) { return p.residual_scale != 0; }

  static constexpr impl::operand_table operands(const params& p) {
    using impl::operand;
    const impl::operand_table without{operand::byte_image(), operand::byte_image(), operand::checked_by_rules()};
    return has_residual(p) ? without.with(operand::byte_image().of_output_shape()) : without;
  }
  /// Rows of images are those of the input and of the residual.
  static constexpr impl::row_rule rows(const params& p, int d, int) {
    return impl::rows_apart(d == 0, has_residual(p) ? 0b101 : 0b001);
  }

  NSK_COLD static status_code check_rules(impl::constant_reader& constants, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    if (has_residual(p) && !(impl::is_scale(p.residual_scale) && p.residual_scale <= max_residual_scale))
      return status_code::bad_step;
    if (p.low > p.high || p.weight_offset < -128 || p.weight_offset > 128) return status_code::bad_step;
    const status_code layer = impl::check_quad_layer(constants, x, s.input(1), y, p.w, p.groups, p.whole_rows);
    if (layer != status_code::ok) return layer;
    const std::int64_t depth = x.shape()[3] / p.groups, channels = y.shape()[3] / p.groups,
                       offset = p.weight_offset < 0 ? -p.weight_offset : p.weight_offset;
    return impl::check_quad_sums(constants, s.input(1), p.groups, channels,
                                 kernels::quads_of_window(p.w, depth, p.whole_rows),
                                 offset * depth * p.w.kernel_h * p.w.kernel_w);
  }

  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    const tensor_info weights = s.input(1);
    return {p,
            kernels::fastest_products(weights.arrangement() == packing::safe_quads, m.native_dot4),
            m.view(s.input(0)),
            m.view(s.output()),
            m.constant<std::byte>(weights),
            has_residual(p) ? m.view(s.input(2)) : tensor_view{}};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::quantized_conv_2d<impl::quad_support_of<Settings>>(a, range, scratch);
  }

 private:
  /// Units of a residual are at most 255 * 2^20, so that int32 holds them beside those of the sums.
  static constexpr float max_residual_scale = 1 << 20;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
