// SPDX-License-Identifier: MIT
#pragma once
/// One number everywhere.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::fill> : impl::never_in_place,
                             impl::nothing_whole,
                             impl::rows_of_inputs<0>,
                             impl::without_scratch,
                             impl::one_tap,
                             impl::one_path {
  using params = fill_params;
  using args = kernels::fill_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::any_type().with_border()};
  }

  static status_code check_rules(impl::constant_reader&, const step_view&, const params&) { return status_code::ok; }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) { return {p, m.view(s.output())}; }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::fill(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
