// SPDX-License-Identifier: MIT
#pragma once
/// Maximum or average over windows of an image.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/images/pool_2d.hpp>
#include <netsuke/ops/impl/int8_layers.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::pool_2d> : impl::never_in_place,
                                impl::nothing_whole,
                                impl::rows_of_images,
                                impl::without_scratch,
                                impl::taps_of_window,
                                impl::one_path {
  using params = pool_2d_params;
  using args = kernels::pool_2d_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand image = operand::of(dtype::float32, dtype::uint8).with_rank(4).in_lines();
    return {image.with_border(), image.of_output_type()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    if (y.type() == dtype::uint8 && p.kind != pool_kind::max) return status_code::bad_step;
    const span<const std::int32_t> in = x.shape(), out = y.shape();
    const window& w = p.w;
    return impl::accepted(in[3] == out[3] && impl::windows_fit(w, x, y) && is_known(p.kind) &&
                          touches(in[1], out[1], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top) &&
                          touches(in[2], out[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left));
  }

  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    if constexpr (impl::has_int8_layers<Settings>)
      if (a.input.type == dtype::uint8) return kernels::max_pool_bytes(a, range);
    kernels::pool_2d<impl::pool_kinds_of<Settings>>(a, range, scratch);
  }

 private:
  /// Whether each window touches the input: it starts before the input's end, and padding is smaller than the window.
  NSK_COLD static bool touches(std::int64_t input, std::int64_t output, std::int64_t kernel, std::int64_t stride,
                               std::int64_t dilation, std::int64_t pad) {
    return pad <= (kernel - 1) * dilation && (output - 1) * stride - pad < input;
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
