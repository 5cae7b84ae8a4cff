// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers stored as bytes.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/quantize.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::quantize> : impl::inputs<1>,
                                 impl::never_in_place,
                                 impl::without_border,
                                 impl::nothing_whole,
                                 impl::rows_of_inputs<1>,
                                 impl::without_scratch,
                                 impl::one_tap {
  using params = quantize_params;
  using args = kernels::quantize_args;

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    const bool good = impl::is_float(x) && impl::is_bytes(y) && impl::same_shape(x, y) && impl::is_scale(p.scale);
    const std::int32_t min_number = y.type() == dtype::int8 ? -128 : 0, max_number = min_number + 255;
    return impl::accepted(good && p.zero >= min_number && p.zero <= max_number && p.low >= min_number &&
                          p.low <= p.high && p.high <= max_number);
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
