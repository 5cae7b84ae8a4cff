// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of integers, and of booleans bit by bit.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/arithmetic.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::arithmetic> : impl::never_in_place,
                                   impl::nothing_whole,
                                   impl::rows_of_inputs<2>,
                                   impl::without_scratch,
                                   impl::one_tap,
                                   impl::one_path {
  using params = arithmetic_params;
  using args = kernels::arithmetic_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand input =
        operand::of(dtype::int32, dtype::int64, dtype::boolean).of_output_type().of_output_shape();
    return {operand::of(dtype::int32, dtype::int64, dtype::boolean), input, input};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const bool bits = p.kind >= arithmetic_kind::bit_and && p.kind <= arithmetic_kind::bit_xor;
    return impl::accepted(is_known(p.kind) && (bits || s.output().type() != dtype::boolean));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()), m.flags};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::arithmetic(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
