// SPDX-License-Identifier: MIT
#pragma once
/// Slices of the data along an axis, at the positions that indices name.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/gather.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::gather>
    : impl::never_in_place, impl::nothing_whole, impl::without_scratch, impl::one_tap, impl::one_path {
  using params = gather_params;
  using args = kernels::gather_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::any_type().with_border(), operand::any_type().of_output_type(), operand::indices().with_rank(1)};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info data = s.input(0), indices = s.input(1), y = s.output();
    return impl::accepted(impl::agree_except(data, y, p.axis) &&
                          indices.shape()[0] == y.shape()[static_cast<std::size_t>(p.axis)]);
  }

  /// Along the axis the indices have the rows, along others the data.
  static constexpr impl::row_rule rows(const params& p, int d, int) {
    return d == p.axis ? impl::row_rule{true, 0, 2, 0} : impl::row_rule{true, 1, 0, 0};
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()), m.flags};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::gather(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
