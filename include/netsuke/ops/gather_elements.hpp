// SPDX-License-Identifier: MIT
#pragma once
/// Elements of the data, each at the position along an axis that its index names.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/gather.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::gather_elements> : impl::never_in_place,
                                        impl::nothing_whole,
                                        impl::rows_beside_axis<2>,
                                        impl::without_scratch,
                                        impl::one_tap,
                                        impl::one_path {
  using params = gather_elements_params;
  using args = kernels::gather_elements_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::any_type().with_border(), operand::any_type().of_output_type(),
            operand::indices().of_output_shape()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    return impl::accepted(impl::agree_except(s.input(0), s.output(), p.axis, true));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {{p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()), m.flags}};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::gather_elements(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
