// SPDX-License-Identifier: MIT
#pragma once
/// The scale and the zero point by which bytes store a tensor.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/dynamic_quantize.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::dynamic_range>
    : impl::never_in_place, impl::whole_channels, impl::without_scratch, impl::one_path {
  using params = dynamic_range_params;
  using args = kernels::dynamic_range_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().with_rank(1), operand::floats()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    return impl::accepted(s.output().elements() == 2);
  }
  /// Numbers of all rows have one scale.
  static constexpr impl::row_rule rows(const params&, int, int) { return {}; }
  static std::uint64_t taps(const step_view& s, const params&) {
    return static_cast<std::uint64_t>(s.input(0).elements());
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::dynamic_range(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
