// SPDX-License-Identifier: MIT
#pragma once
/// Rearranges matrices in panels, as the right side of mat_mul.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/pack_panels.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::pack_panels> : impl::inputs<1>,
                                    impl::never_in_place,
                                    impl::without_border,
                                    impl::whole_channels,
                                    impl::rows_of_images,
                                    impl::without_scratch,
                                    impl::one_tap {
  using params = pack_panels_params;
  using args = kernels::pack_panels_args;

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    const tensor_info x = s.input(0), y = s.output();
    if (!impl::is_float(x) || !impl::is_float_lines(y) || x.rank() != 3 || y.rank() != 2) return status_code::bad_step;
    const span<const std::int32_t> in = x.shape(), out = y.shape();
    return impl::accepted(in[0] == out[0] && out[1] == panel_floats(in[2], in[1]));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::pack_panels(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
