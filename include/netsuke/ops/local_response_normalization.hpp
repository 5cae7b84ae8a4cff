// SPDX-License-Identifier: MIT
#pragma once
/// Division by a power of the squares of neighbouring channels.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/lines/local_response_normalization.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::local_response_normalization>
    : impl::never_in_place, impl::whole_channels, impl::rows_of_lines, impl::without_scratch, impl::one_path {
  using params = local_response_normalization_params;
  using args = kernels::local_response_normalization_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().in_lines().with_border(), operand::floats().in_lines().of_output_shape()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view&, const params& p) {
    return impl::accepted(p.size >= 1 && p.size <= 0xffff);
  }

  static std::uint64_t taps(const step_view&, const params& p) { return static_cast<std::uint64_t>(p.size); }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::local_response_normalization(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
