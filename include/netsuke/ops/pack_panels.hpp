// SPDX-License-Identifier: MIT
#pragma once
/// Rearranges matrices in panels, as the right side of mat_mul.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/product/pack_panels.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::pack_panels> : impl::never_in_place,
                                    impl::whole_channels,
                                    impl::rows_of_images,
                                    impl::without_scratch,
                                    impl::one_tap,
                                    impl::one_path {
  using params = pack_panels_params;
  using args = kernels::pack_panels_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().with_rank(2).in_lines(), operand::floats().with_rank(3)};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    const span<const std::int32_t> in = s.input(0).shape(), out = s.output().shape();
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
