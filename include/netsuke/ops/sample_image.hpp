// SPDX-License-Identifier: MIT
#pragma once
/// Pixels of images at fractional positions.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/images/sample_image.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::sample_image> : impl::never_in_place, impl::nothing_whole, impl::without_scratch, impl::one_path {
  using params = sample_image_params;
  using args = kernels::sample_image_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand image = operand::floats().with_rank(5).in_lines();
    constexpr operand places = operand::floats().with_rank(4);
    return {image, image, places, places, places};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    const span<const std::int32_t> from = s.input(0).shape(), to = s.output().shape();
    for (const int i : {1, 2, 3})
      for (std::size_t d = 0; d < 4; ++d)
        if (s.input(i).shape()[d] != to[d]) return status_code::bad_step;
    return impl::accepted(from[0] == to[0] && from[3] == to[3] && from[4] == to[4] &&
                          from[1] <= impl::max_sampled_side && from[2] <= impl::max_sampled_side);
  }
  /// Images and positions have the rows; factors need not.
  static constexpr impl::row_rule rows(const params&, int d, int) { return {d == 0, 7, 0, 8}; }
  static std::uint64_t taps(const step_view&, const params&) { return 4; }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.input(2)), m.view(s.input(3)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::sample_image(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
