// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers that bytes store.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/quantize.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::dequantize> : impl::inputs<1>,
                                   impl::never_in_place,
                                   impl::with_border,
                                   impl::nothing_whole,
                                   impl::rows_of_inputs<1>,
                                   impl::without_scratch,
                                   impl::one_tap {
  using params = dequantize_params;
  using args = kernels::dequantize_args;

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    const bool good = impl::is_bytes(x) && impl::is_float(y) && impl::same_shape(x, y) && impl::is_scale(p.scale);
    const std::int32_t min_number = x.type() == dtype::int8 ? -128 : 0;
    return impl::accepted(good && p.zero >= min_number && p.zero <= min_number + 255);
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::dequantize(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
