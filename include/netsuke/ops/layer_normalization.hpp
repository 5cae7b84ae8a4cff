// SPDX-License-Identifier: MIT
#pragma once
/// Normalisation along the last dimension, with a scale and a bias per element.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/lines/layer_normalization.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::layer_normalization> : impl::in_place_of<1>,
                                            impl::whole_channels,
                                            impl::rows_of_lines,
                                            impl::without_scratch,
                                            impl::one_tap,
                                            impl::one_path {
  using params = layer_normalization_params;
  using args = kernels::layer_normalization_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::floats().with_border(), operand::floats().of_output_shape(), operand::checked_by_rules(),
            operand::checked_by_rules()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params&) {
    const std::int32_t channels = impl::last_length(s.output());
    const bool good = impl::is_constant_line(s.input(1), channels) && impl::is_constant_line(s.input(2), channels);
    return good ? status_code::ok : status_code::bad_weights;
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), m.constant<float>(s.input(2))};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::layer_normalization(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
