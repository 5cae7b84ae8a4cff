// SPDX-License-Identifier: MIT
#pragma once
/// Products of matrices of integers.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/integer_mat_mul.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::integer_mat_mul>
    : impl::never_in_place, impl::nothing_whole, impl::without_scratch, impl::taps_of_line, impl::one_path {
  using params = integer_mat_mul_params;
  using args = kernels::integer_mat_mul_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand matrices = operand::indices().with_rank(3).of_output_type();
    return {operand::indices().with_rank(3), matrices, matrices};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    const span<const std::int32_t> l = s.input(0).shape(), r = s.input(1).shape(), p = s.output().shape();
    return impl::accepted(l[0] == p[0] && r[0] == p[0] && l[1] == p[1] && l[2] == r[1] && r[2] == p[2]);
  }
  static constexpr impl::row_rule rows(const params&, int d, int) { return {d < 2, 1, 0, d == 0 ? 2u : 0u}; }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::integer_mat_mul(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
