// SPDX-License-Identifier: MIT
#pragma once
/// An elementwise function of two numbers, then the one of the epilogue.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/elements/binary.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::binary> : impl::in_place_of<2>,
                               impl::nothing_whole,
                               impl::rows_of_inputs<2>,
                               impl::without_scratch,
                               impl::one_tap,
                               impl::one_path {
  using params = binary_params;
  using args = kernels::binary_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand input = operand::floats().of_output_shape();
    return {operand::floats().with_border(), input, input};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view&, const params& p) {
    return impl::accepted(is_known(p.kind));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()), impl::bind_epilogue(m, s)};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::binary<impl::kernels_of<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
