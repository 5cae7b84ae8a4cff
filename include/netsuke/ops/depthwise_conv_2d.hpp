// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution: each output channel from the input channel of its number.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/depthwise/depthwise_conv_2d.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::depthwise_conv_2d>
    : impl::never_in_place, impl::nothing_whole, impl::rows_of_images, impl::without_scratch, impl::taps_of_window {
  using params = depthwise_conv_2d_params;
  using args = kernels::depthwise_conv_2d_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::image().with_border(), operand::image(), operand::checked_by_rules()};
  }

  template <class Reader>
  NSK_COLD static status_code check_rules(Reader& reader, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    if (x.shape()[3] != y.shape()[3] || !impl::windows_fit(p.w, x, y)) return status_code::bad_step;
    const std::int64_t taps = std::int64_t{p.w.kernel_h} * p.w.kernel_w;
    return impl::holds_matrix(reader, s.input(1), y.shape()[3], taps) ? status_code::ok : status_code::bad_weights;
  }

  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), impl::bind_epilogue(m, s)};
  }

  static fast_path path(const step_view& s, const vector_registers& = kernels::own_registers) {
    return kernels::path_of(s.params<op::depthwise_conv_2d>());
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::depthwise_conv_2d<impl::kernels_of<Settings>, impl::weight<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
