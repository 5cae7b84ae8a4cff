// SPDX-License-Identifier: MIT
#pragma once
/// An elementwise function: the one of the epilogue.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/unary.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::unary> : impl::in_place_of<1>,
                              impl::nothing_whole,
                              impl::rows_of_inputs<1>,
                              impl::without_scratch,
                              impl::one_tap,
                              impl::one_path {
  using params = unary_params;
  using args = kernels::unary_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().with_border(), operand::floats().of_output_shape()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view&, const params&) {
    return status_code::ok;
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output()), impl::bind_epilogue(m, s)};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::unary<impl::kernels_of<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
