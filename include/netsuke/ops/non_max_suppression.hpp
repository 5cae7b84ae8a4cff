// SPDX-License-Identifier: MIT
#pragma once
/// Boxes that are kept, best score first, in rows of image, class and box.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/lines/non_max_suppression.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::non_max_suppression> : impl::never_in_place, impl::any_tiles, impl::one_path {
  using params = non_max_suppression_params;
  using args = kernels::non_max_suppression_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand input = operand::floats().with_rank(3);
    return {operand::of(dtype::int64).with_rank(2), input, input};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    const tensor_info boxes = s.input(0), scores = s.input(1), y = s.output();
    return impl::accepted(boxes.shape()[0] == scores.shape()[0] && boxes.shape()[1] == scores.shape()[2] &&
                          boxes.shape()[2] == 4 && y.shape()[1] == 3);
  }

  static constexpr impl::whole_axes whole(const params&, int) { return {true, true, true}; }
  /// All images share the rows of the output.
  static constexpr impl::row_rule rows(const params&, int, int) { return {}; }
  template <class Tensor>
  static std::int64_t scratch_bytes(const params&, const Tensor& boxes, const Tensor&) {
    return kernels::non_max_suppression_scratch_bytes(boxes.shape()[1]);
  }
  static std::uint64_t taps(const step_view& s, const params&) {
    return static_cast<std::uint64_t>(s.input(0).elements());
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.input(1)), m.view(s.output()), m.flags};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::non_max_suppression(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
