// SPDX-License-Identifier: MIT
#pragma once
/// Random numbers that follow from seed, run and place.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/random.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::random>
    : impl::never_in_place, impl::nothing_whole, impl::without_scratch, impl::one_tap, impl::one_path {
  using params = random_params;
  using args = kernels::random_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().with_border()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view&, const params& p) {
    return impl::accepted(is_known(p.kind));
  }

  /// Numbers are counted by indices of dimension 0.
  static constexpr impl::row_rule rows(const params&, int d, int) { return impl::rows_apart(d == 0, 0); }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.output()), m.random};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::random(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
