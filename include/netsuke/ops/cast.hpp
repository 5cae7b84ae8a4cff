// SPDX-License-Identifier: MIT
#pragma once
/// Conversion to the output's element type.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/cast.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::cast> : impl::inputs<1>,
                             impl::never_in_place,
                             impl::with_border,
                             impl::nothing_whole,
                             impl::rows_of_inputs<1>,
                             impl::without_scratch,
                             impl::one_tap {
  using params = cast_params;
  using args = kernels::cast_args;

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    const tensor_info x = s.input(0), y = s.output();
    return impl::accepted(impl::is_readable(x) && y.type() != dtype::float16 && impl::same_shape(x, y));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::cast(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
