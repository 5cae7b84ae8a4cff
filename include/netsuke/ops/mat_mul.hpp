// SPDX-License-Identifier: MIT
#pragma once
/// Products of matrices, the right ones packed by pack_panels or by the converter.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/dense/mat_mul.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::mat_mul>
    : impl::never_in_place, impl::nothing_whole, impl::without_scratch, impl::taps_of_line, impl::one_path {
  using params = mat_mul_params;
  using args = kernels::mat_mul_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand rows = operand::floats().with_rank(3).in_lines();
    return {rows, rows, operand::checked_by_rules()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info panels = s.input(1);
    const span<const std::int32_t> in = s.input(0).shape(), out = s.output().shape();
    if (in[0] != out[0] || in[1] != out[1]) return status_code::bad_step;
    const std::int64_t matrices = p.shared_right ? 1 : in[0], floats = panel_floats(out[2], in[2]);
    if (floats > impl::max_elements / matrices || panels.elements() < floats * matrices)
      return status_code::bad_weights;
    const bool good = panels.where() == storage::constant ? impl::holds(panels, packing::panels, floats * matrices)
                                                          : impl::is_float(panels) && impl::is_dense(panels);
    return good ? status_code::ok : status_code::bad_weights;
  }

  /// Each row has its own right matrix, or all share one that has no rows.
  static constexpr impl::row_rule rows(const params& p, int d, int rank) {
    return {d < rank - 1 && (p.shared_right || d == 0), 1, 0, p.shared_right ? 0u : 2u};
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), impl::bind_epilogue(m, s)};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::mat_mul<impl::kernels_of<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
