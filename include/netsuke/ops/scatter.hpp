// SPDX-License-Identifier: MIT
#pragma once
/// Data whose elements are replaced by, or combined with, updates at the positions that indices name.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/scatter.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::scatter>
    : impl::in_place_of<1>, impl::axis_whole, impl::rows_beside_axis<3>, impl::without_scratch, impl::one_path {
  using params = scatter_params;
  using args = kernels::scatter_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::any_type().with_border(), operand::any_type().of_output_type().of_output_shape(),
            operand::of(dtype::int32, dtype::int64, dtype::boolean), operand::any_type().of_output_type()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info indices = s.input(1), updates = s.input(2), y = s.output();
    const bool combines = p.kind != scatter_kind::replace, typed = !combines || y.type() != dtype::boolean;
    if (!is_known(p.kind) || !typed || (combines && y.type() == dtype::float16)) return status_code::bad_step;
    const auto axis = static_cast<std::size_t>(p.axis);
    const bool chooses = indices.type() == dtype::boolean;
    if (!impl::agree_except(y, updates, p.axis) || !impl::same_shape(indices, updates)) return status_code::bad_step;
    return impl::accepted(!chooses || (!combines && updates.shape()[axis] <= y.shape()[axis]));
  }

  /// The data, and as many updates as there are for each element.
  static std::uint64_t taps(const step_view& s, const params& p) {
    const auto axis = static_cast<std::size_t>(p.axis);
    return 1 + static_cast<std::uint64_t>(s.input(2).shape()[axis] / s.output().shape()[axis]);
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.input(2)), m.view(s.output()), m.flags};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::scatter(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
