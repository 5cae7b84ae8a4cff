// SPDX-License-Identifier: MIT
#pragma once
/// Comparison of two tensors of one type.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/compare.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::compare> : impl::never_in_place,
                                impl::nothing_whole,
                                impl::rows_of_inputs<2>,
                                impl::without_scratch,
                                impl::one_tap,
                                impl::one_path {
  using params = compare_params;
  using args = kernels::compare_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand input = operand::readable().of_output_shape();
    return {operand::of(dtype::boolean), input, input};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    return impl::accepted(is_known(p.kind) && s.input(0).type() == s.input(1).type());
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::compare(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
