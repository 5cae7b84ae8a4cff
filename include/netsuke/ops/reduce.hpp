// SPDX-License-Identifier: MIT
#pragma once
/// A reduction over the axes in which the output has length 1 and the input has not.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/lines/reduce.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::reduce>
    : impl::never_in_place, impl::nothing_whole, impl::rows_of_inputs<1>, impl::without_scratch, impl::one_path {
  using params = reduce_params;
  using args = kernels::reduce_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().with_border(), operand::floats()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    if (x.rank() != y.rank() || !is_known(p.kind)) return status_code::bad_step;
    const span<const std::int32_t> in = x.shape(), out = y.shape();
    for (std::size_t d = 0; d < in.size(); ++d) {
      if (out[d] != in[d] && out[d] != 1) return status_code::bad_step;
    }
    return status_code::ok;
  }

  static std::uint64_t taps(const step_view& s, const params&) {
    return static_cast<std::uint64_t>(s.input(0).elements()) / static_cast<std::uint64_t>(s.output().elements());
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output()), impl::bind_epilogue(m, s)};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::reduce<impl::kernels_of<Settings>, impl::reduce_kinds_of<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
