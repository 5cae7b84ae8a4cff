// SPDX-License-Identifier: MIT
#pragma once
/// The mean of all pixels of an image that bytes store.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/quantized_mean.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::quantized_mean>
    : impl::never_in_place, impl::nothing_whole, impl::rows_of_images, impl::without_scratch, impl::one_path {
  using params = quantized_mean_params;
  using args = kernels::quantized_mean_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::byte_image(), operand::byte_image()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const span<const std::int32_t> in = s.input(0).shape(), out = s.output().shape();
    return impl::accepted(in[0] == out[0] && in[3] == out[3] && out[1] == 1 && out[2] == 1 &&
                          std::int64_t{in[1]} * in[2] <= impl::max_mean_pixels && impl::is_scale(p.scale) &&
                          p.low <= p.high);
  }
  static std::uint64_t taps(const step_view& s, const params&) {
    const span<const std::int32_t> in = s.input(0).shape();
    return static_cast<std::uint64_t>(in[1]) * static_cast<std::uint64_t>(in[2]);
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::quantized_mean(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
