// SPDX-License-Identifier: MIT
#pragma once
/// Softmax along an axis, or its logarithm.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/lines/softmax.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::softmax> : impl::in_place_of<1>,
                                impl::axis_whole,
                                impl::rows_beside_axis<1>,
                                impl::without_scratch,
                                impl::one_tap,
                                impl::one_path {
  using params = softmax_params;
  using args = kernels::softmax_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().with_border(), operand::floats().of_output_shape()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    return impl::accepted(p.axis < s.output().rank());
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::softmax(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
