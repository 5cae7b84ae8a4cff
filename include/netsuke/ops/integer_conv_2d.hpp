// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution of stored integers whose zero point is computed; sums or real numbers.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/integer_conv_2d.hpp>
#include <netsuke/ops/impl/quad_rules.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::integer_conv_2d> : impl::quad_layer<integer_conv_2d_params>, impl::rows_of_images, impl::one_path {
  using params = integer_conv_2d_params;
  using args = kernels::integer_conv_2d_args;

  static constexpr impl::operand_table operands(const params& p) {
    using impl::operand;
    constexpr operand number = operand::floats().with_rank(1);
    if (!p.real)
      return {operand::of(dtype::int32).with_rank(4).in_lines(), operand::byte_image(), operand::checked_by_rules(),
              number};
    return {operand::image().with_border(), operand::byte_image(), operand::checked_by_rules(), number, number,
            operand::checked_by_rules()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader& constants, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    const epilogue_params e = s.epilogue();
    if (s.input(2).elements() != 1 ||
        (p.real ? s.input(3).elements() != 1 || !impl::is_constant_line(s.input(4), y.shape()[3])
                : e.fn != function::identity || e.residual >= 0))
      return status_code::bad_step;
    return impl::check_quad_layer(constants, x, s.input(1), y, p.w, p.groups, p.whole_rows);
  }

  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    const tensor_info weights = s.input(1);
    return {p,
            kernels::fastest_products(weights.arrangement() == packing::safe_quads, m.native_dot4),
            m.view(s.input(0)),
            m.view(s.output()),
            m.constant<std::byte>(weights),
            m.constant<float>(s.input(2)),
            p.real ? m.constant<float>(s.input(3)) : nullptr,
            p.real ? m.constant<float>(s.input(4)) : nullptr,
            impl::bind_epilogue(m, s)};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::integer_conv_2d<impl::kernels_of<Settings>, impl::quad_support_of<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
