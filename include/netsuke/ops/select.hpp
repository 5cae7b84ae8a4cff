// SPDX-License-Identifier: MIT
#pragma once
/// Elements of one tensor or another, as a condition says.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/select.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::select> : impl::never_in_place,
                               impl::nothing_whole,
                               impl::rows_of_inputs<3>,
                               impl::without_scratch,
                               impl::one_tap,
                               impl::one_path {
  using params = select_params;
  using args = kernels::select_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand input = operand::any_type().of_output_type().of_output_shape();
    return {operand::any_type().with_border(), operand::of(dtype::boolean).of_output_shape(), input, input};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view&, const params&) {
    return status_code::ok;
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.input(1)), m.view(s.input(2)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::select(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
