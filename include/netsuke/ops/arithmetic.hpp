// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of integers, and of booleans bit by bit.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/arithmetic.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::arithmetic> : impl::inputs<2>,
                                   impl::never_in_place,
                                   impl::without_border,
                                   impl::nothing_whole,
                                   impl::rows_of_inputs<2>,
                                   impl::without_scratch,
                                   impl::one_tap {
  using params = arithmetic_params;
  using args = kernels::arithmetic_args;

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info a = s.input(0), b = s.input(1), y = s.output();
    const bool bits = p.kind >= arithmetic_kind::bit_and && p.kind <= arithmetic_kind::bit_xor,
               typed = is_known(p.kind) && (impl::is_index(y) || (y.type() == dtype::boolean && bits));
    return impl::accepted(typed && impl::is_plain(a) && impl::is_plain(b) && a.type() == y.type() &&
                          b.type() == y.type() && impl::same_shape(a, y) && impl::same_shape(b, y));
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
