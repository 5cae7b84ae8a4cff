// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution of stored integers.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/quantized_conv_2d.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::quantized_conv_2d> : impl::never_in_place, impl::without_border {
  using params = quantized_conv_2d_params;
  using args = kernels::quantized_conv_2d_args;

  static constexpr bool has_residual(const params& p) { return p.residual_scale != 0; }
  static constexpr int input_count(const params& p) { return has_residual(p) ? 3 : 2; }
  /// Rows of images are those of the input and of the residual.
  static constexpr impl::row_rule rows(const params& p, int d, int) {
    return impl::rows_apart(d == 0, has_residual(p) ? 0b101 : 0b001);
  }

  NSK_COLD static status_code check_rules(impl::constant_reader& constants, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    if (has_residual(p) && !is_residual(s.input(2), y, p)) return status_code::bad_step;
    if (!impl::is_byte_image(x) || !impl::is_byte_image(y)) return status_code::bad_step;
    const std::int64_t groups = p.groups, in = x.shape()[3], out = y.shape()[3];
    if (groups < 1 || in % groups != 0 || out % groups != 0 || !impl::windows_fit(p.w, x, y) || p.low > p.high)
      return status_code::bad_step;
    if (p.whole_rows && (groups != 1 || p.w.dilation_w != 1 || x.strides()[2] != in)) return status_code::bad_step;
    const std::int64_t area = std::int64_t{p.w.kernel_h} * p.w.kernel_w, group_in = in / groups;
    if (area > impl::max_elements / group_in) return status_code::bad_step;
    const std::int64_t bytes = quad_panel_bytes(out / groups, kernels::quads_of_window(p.w, group_in, p.whole_rows));
    if (!impl::holds_quads(s.input(1), groups, bytes)) return status_code::bad_weights;
    return check_padding(constants, s.input(1), p, groups, out / groups, group_in);
  }

  static constexpr impl::whole_axes whole(const params&, int) { return {}; }
  /// Groups are cut only between panels, and panels only between groups.
  NSK_COLD static bool accepts_tiles(const params& p, const step_view& s, const tile_size& t, const tile_grid& grid) {
    return impl::cuts_between_panels(impl::last_length(s.output()) / p.groups, p.groups, t, grid);
  }
  template <class Tensor>
  static std::int64_t scratch_bytes(const params& p, const Tensor& x, const Tensor& y) {
    const bool inside =
        impl::windows_inside(p.w.pad_top, p.w.stride_h, p.w.kernel_h, p.w.dilation_h, x.shape()[1], y.shape()[1]) &&
        impl::windows_inside(p.w.pad_left, p.w.stride_w, p.w.kernel_w, p.w.dilation_w, x.shape()[2], y.shape()[2]);
    return inside ? 0 : kernels::quantized_conv_2d_scratch_bytes(p.w, x.shape()[3] / p.groups);
  }
  static std::uint64_t taps(const step_view& s, const params& p) {
    return impl::saturating_multiply(impl::taps_of(p.w), static_cast<std::uint64_t>(s.input(0).shape()[3] / p.groups));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    const tensor_info weights = s.input(1);
    return {p,
            kernels::fastest_products(weights.arrangement() == packing::safe_quads, m.multiplies_quads),
            m.view(s.input(0)),
            m.view(s.output()),
            m.constant<std::byte>(weights),
            has_residual(p) ? m.view(s.input(2)) : tensor_view{}};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::quantized_conv_2d(a, range, scratch);
  }

 private:
  /// Units of a residual are at most 255 * 2^20, so that int32 holds them beside those of the sums.
  NSK_COLD static bool is_residual(const tensor_info& r, const tensor_info& y, const params& p) {
    constexpr float max_scale = 1 << 20;
    return impl::is_byte_image(r) && impl::same_shape(r, y) && impl::is_scale(p.residual_scale) &&
           p.residual_scale <= max_scale;
  }
  /// What is missing in the last quad of a run must be zeros: kernels multiply it by the bytes behind the run, which
  /// are anything.
  NSK_COLD static status_code check_padding(impl::constant_reader& constants, const tensor_info& weights,
                                            const params& p, std::int64_t groups, std::int64_t channels,
                                            std::int64_t depth) {
    const auto runs = kernels::impl::runs_of(p.w, depth, p.whole_rows);
    const int used = runs.length % 4;
    if (used == 0) return status_code::ok;
    if (!constants.afford(groups * padded_channels(channels) * runs.count())) return status_code::too_complex;
    const std::int64_t quads = runs.quads(), run_quads = quads_of(runs.length);
    const std::byte* panel = constants.bytes(weights);
    for (std::int64_t i = 0; i < groups * panel_count(channels); ++i) {
      const std::int64_t width = width_of_panel(channels, i % panel_count(channels));
      for (std::int64_t q = run_quads + 1; q <= quads + 1; q += run_quads)  // two lines of constants come first
        for (const std::byte* quad = panel + 4 * width * q; quad < panel + 4 * width * (q + 1); quad += 4)
          for (int k = used; k < 4; ++k)
            if (quad[k] != std::byte{0}) return status_code::bad_weights;
      panel += 4 * width * (quads + 2);
    }
    return status_code::ok;
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
