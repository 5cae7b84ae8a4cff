// SPDX-License-Identifier: MIT
#pragma once
/// Positions of the largest or smallest elements along an axis.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/lines/top_k.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::top_k> : impl::never_in_place,
                              impl::axis_whole,
                              impl::rows_beside_axis<1>,
                              impl::without_scratch,
                              impl::taps_along_axis,
                              impl::one_path {
  using params = top_k_params;
  using args = kernels::top_k_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::of(dtype::int64), operand::of(dtype::float32, dtype::int32, dtype::int64)};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    if (!impl::agree_except(x, y, p.axis)) return status_code::bad_step;
    const auto axis = static_cast<std::size_t>(p.axis);
    return impl::accepted(y.shape()[axis] <= x.shape()[axis]);
  }

  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::top_k(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
