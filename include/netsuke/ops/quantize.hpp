// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers stored as bytes.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/quantize.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::quantize> : impl::never_in_place,
                                 impl::nothing_whole,
                                 impl::rows_of_inputs<1>,
                                 impl::without_scratch,
                                 impl::one_tap,
                                 impl::one_path {
  using params = quantize_params;
  using args = kernels::quantize_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::bytes(), operand::floats().of_output_shape()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const std::int32_t min_number = s.output().type() == dtype::int8 ? -128 : 0, max_number = min_number + 255;
    return impl::accepted(impl::is_scale(p.scale) && p.zero >= min_number && p.zero <= max_number &&
                          p.low >= min_number && p.low <= p.high && p.high <= max_number);
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::quantize(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
