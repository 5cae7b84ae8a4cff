// SPDX-License-Identifier: MIT
#pragma once
/// Conversion to the output's element type.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/cast.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::cast> : impl::never_in_place,
                             impl::nothing_whole,
                             impl::rows_of_inputs<1>,
                             impl::without_scratch,
                             impl::one_tap,
                             impl::one_path {
  using params = cast_params;
  using args = kernels::cast_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::readable().with_border(), operand::readable().of_output_shape()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view&, const params&) {
    return status_code::ok;
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::cast(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
