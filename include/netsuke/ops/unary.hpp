// SPDX-License-Identifier: MIT
#pragma once
/// An elementwise function: the one of the epilogue.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/unary.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::unary> : impl::inputs<1>,
                              impl::in_place_of<1>,
                              impl::with_border,
                              impl::nothing_whole,
                              impl::rows_of_inputs<1>,
                              impl::without_scratch,
                              impl::one_tap {
  using params = unary_params;
  using args = kernels::unary_args;

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    return impl::accepted(impl::is_pointwise(s, 1));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output()), impl::bind_epilogue(m, s)};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::unary<impl::kernels_of<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
