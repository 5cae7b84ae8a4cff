// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers stored as bytes by a scale that is computed.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/dynamic_quantize.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::dynamic_quantize> : impl::never_in_place,
                                         impl::nothing_whole,
                                         impl::rows_of_inputs<1>,
                                         impl::without_scratch,
                                         impl::one_tap,
                                         impl::one_path {
  using params = dynamic_quantize_params;
  using args = kernels::dynamic_quantize_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand number = operand::floats().with_rank(1);
    return {operand::of(dtype::uint8), operand::floats().of_output_shape(), number, number};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    return impl::accepted(s.input(1).elements() == 1 && s.input(2).elements() == 1);
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), m.constant<float>(s.input(2))};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::dynamic_quantize(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
