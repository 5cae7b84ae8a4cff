// SPDX-License-Identifier: MIT
#pragma once
/// Separable resampling of an image by tables of positions and weights.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/images/resize_2d.hpp>
#include <netsuke/ops/impl/int8_layers.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::resize_2d> : impl::never_in_place, impl::nothing_whole, impl::rows_of_images, impl::one_path {
  using params = resize_2d_params;
  using args = kernels::resize_2d_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand image = operand::of(dtype::float32, dtype::uint8).with_rank(4).in_lines();
    return {image.with_border(),         image.of_output_type(),      operand::checked_by_rules(),
            operand::checked_by_rules(), operand::checked_by_rules(), operand::checked_by_rules()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader& constants, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    const bool stored = y.type() == dtype::uint8;
    if (stored && (p.row_taps != 1 || p.column_taps != 1)) return status_code::bad_step;
    const span<const std::int32_t> in = x.shape(), out = y.shape();
    if (in[0] != out[0] || in[3] != out[3] || p.row_taps < 1 || p.column_taps < 1) return status_code::bad_step;
    const status_code rows =
        verify_table(constants, s.input(1), s.input(2), in[1], std::int64_t{out[1]} * p.row_taps, stored);
    if (rows != status_code::ok) return rows;
    return verify_table(constants, s.input(3), s.input(4), in[2], std::int64_t{out[2]} * p.column_taps, stored);
  }

  template <class Tensor>
  static std::int64_t scratch_bytes(const params& p, const Tensor&, const Tensor&) {
    return kernels::resize_2d_scratch_bytes(p.row_taps);
  }
  static std::uint64_t taps(const step_view&, const params& p) {
    return static_cast<std::uint64_t>(std::int64_t{p.row_taps} * p.column_taps);
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p,
            m.view(s.input(0)),
            m.view(s.output()),
            m.constant<std::int32_t>(s.input(1)),
            m.constant<float>(s.input(2)),
            m.constant<std::int32_t>(s.input(3)),
            m.constant<float>(s.input(4))};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    // Bytes have one tap of weight 1 (verify_table): the nearest pixel.
    if constexpr (impl::has_int8_layers<Settings>)
      if (a.input.type == dtype::uint8) return kernels::move_pixels(a, range);
    kernels::resize_2d(a, range, scratch);
  }

 private:
  /// One dimension: an index and a weight for each tap of each output position, indices inside the input at the bounds
  /// of lengths. Bytes are moved, by weights of 1.
  NSK_COLD static status_code verify_table(impl::constant_reader& constants, const tensor_info& index,
                                           const tensor_info& weight, std::int64_t input, std::int64_t count,
                                           bool moves) {
    const std::int32_t* indices = constants.line<std::int32_t>(index);
    const float* weights = constants.line<float>(weight);
    if (!indices || !weights || index.elements() != count || weight.elements() != count) return status_code::bad_step;
    if (!constants.afford(moves ? 2 * count : count)) return status_code::too_complex;
    for (std::int64_t i = 0; i < count && moves; ++i)
      if (weights[i] != 1) return status_code::bad_step;
    return impl::accepted(impl::all_below(indices, count, input));
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
