// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers stored as bytes by a scale that is computed.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/dynamic_quantize.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::dynamic_quantize> : impl::inputs<3>,
                                         impl::never_in_place,
                                         impl::without_border,
                                         impl::nothing_whole,
                                         impl::rows_of_inputs<1>,
                                         impl::without_scratch,
                                         impl::one_tap {
  using params = dynamic_quantize_params;
  using args = kernels::dynamic_quantize_args;

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    const tensor_info x = s.input(0), y = s.output();
    return impl::accepted(impl::is_float(x) && impl::is_plain(y) && y.type() == dtype::uint8 &&
                          impl::same_shape(x, y) && impl::is_one_float(s.input(1)) && impl::is_one_float(s.input(2)));
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
