// SPDX-License-Identifier: MIT
#pragma once
/// Softmax along an axis, or its logarithm.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/softmax.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::softmax> : impl::inputs<1>,
                                impl::in_place_of<1>,
                                impl::with_border,
                                impl::axis_whole,
                                impl::rows_beside_axis<1>,
                                impl::without_scratch,
                                impl::one_tap {
  using params = softmax_params;
  using args = kernels::softmax_args;

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    return impl::accepted(impl::is_pointwise(s, 1) && p.axis < s.output().rank());
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::softmax(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
