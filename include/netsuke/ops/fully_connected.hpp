// SPDX-License-Identifier: MIT
#pragma once
/// A dense layer: rows of the input times packed weights.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/dense/fully_connected.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::fully_connected>
    : impl::never_in_place, impl::nothing_whole, impl::rows_of_lines, impl::without_scratch, impl::taps_of_line {
  using params = fully_connected_params;
  using args = kernels::fully_connected_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().in_lines().with_border(), operand::floats().in_lines(), operand::checked_by_rules()};
  }

  /// Same leading dimensions; the last ones are the depth and the channels of the weights.
  template <class Reader>
  NSK_COLD static status_code check_rules(Reader& reader, const step_view& s, const params&) {
    const tensor_info x = s.input(0), y = s.output();
    if (!impl::agree_except(x, y, x.rank() - 1)) return status_code::bad_step;
    return impl::holds_matrix(reader, s.input(1), impl::last_length(y), impl::last_length(x))
               ? status_code::ok
               : status_code::bad_weights;
  }

  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), impl::bind_epilogue(m, s)};
  }

  static fast_path path(const step_view& s, const vector_registers& r = kernels::own_registers) {
    const tensor_info x = s.input(0), y = s.output();
    const int pixels = y.rank() > 1 ? y.shape()[static_cast<std::size_t>(y.rank() - 2)] : 1;
    return kernels::path_of(
        kernels::dense_layer{static_cast<int>(impl::last_length(x)), static_cast<int>(impl::last_length(y)), pixels,
                             impl::has_float_weights(s)},
        r);
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::fully_connected<impl::kernels_of<Settings>, impl::weight<Settings>>(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
