// SPDX-License-Identifier: MIT
#pragma once
/// What layers of stored integers ask of their windows and packed weights.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/kernels/int8/quantized_conv_2d.hpp>
#include <netsuke/ops/impl/rules.hpp>
#include <netsuke/ops/impl/int8_layers.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
namespace impl {

/// What kernels of such layers are given of `Settings`.
template <class Settings>
using quad_support_of = kernels::quad_support<runs_unsafe_quads<Settings>, runs_weight_offsets<Settings>>;

/// What is missing in the last quad of a run must be zeros: kernels multiply it by the bytes behind the run, which are
/// anything.
NSK_COLD inline status_code check_quad_padding(constant_reader& constants, const tensor_info& weights, const window& w,
                                               bool whole_rows, std::int64_t groups, std::int64_t channels,
                                               std::int64_t depth) {
  const auto runs = kernels::impl::runs_of(w, depth, whole_rows);
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

/// What is true of the sums of a channel: |bias| and 255 times all weights are an int32, and their product with the
/// scale is far inside of one, so that nothing overflows or is infinite on the way to a byte.
struct quad_sums {
  std::int64_t weights;  ///< maximum of their magnitudes, added up
  std::int32_t bias;
  float scale;

  NSK_COLD bool fit() const {
    constexpr double max_units = 1073741824.0;  // 2^30
    const std::int64_t sum = (bias < 0 ? -std::int64_t{bias} : std::int64_t{bias}) + 255 * weights;
    const double units = static_cast<double>(sum) * static_cast<double>(scale);
    return sum <= INT32_MAX && units < max_units && units > -max_units;
  }
};

/// Whether that is so for every column of the panels, those behind the last channel included: kernels compute them too.
/// Weights are looked at only where the largest that there can be would be too large. `offsets`: how many weights have
/// an offset, times its magnitude.
NSK_COLD inline status_code check_quad_sums(constant_reader& constants, const tensor_info& weights, std::int64_t groups,
                                            std::int64_t channels, std::int64_t quads, std::int64_t offsets) {
  if (!constants.afford(2 * groups * padded_channels(channels))) return status_code::too_complex;
  const std::byte* panel = constants.bytes(weights);
  for (std::int64_t i = 0; i < groups * panel_count(channels); ++i) {
    const std::int64_t width = width_of_panel(channels, i % panel_count(channels));
    for (const std::byte* column = panel; column < panel + 4 * width; column += 4) {
      quad_sums sums{512 * quads + offsets, 0, 0};
      std::memcpy(&sums.bias, column, 4);
      std::memcpy(&sums.scale, column + 4 * width, 4);
      if (sums.fit()) continue;
      if (!constants.afford(4 * quads)) return status_code::too_complex;
      sums.weights = offsets;
      for (std::int64_t q = 2; q < quads + 2; ++q)  // two lines of constants come first
        for (int k = 0; k < 4; ++k) {
          const auto weight = static_cast<std::int8_t>(column[4 * width * q + k]);
          sums.weights += weight < 0 ? -weight : weight;
        }
      if (!sums.fit()) return status_code::bad_sums;
    }
    panel += 4 * width * (quads + 2);
  }
  return status_code::ok;
}

/// Whether windows, groups and weights of a layer fit its input of bytes and its output, both images.
NSK_COLD inline status_code check_quad_layer(constant_reader& constants, const tensor_info& x,
                                             const tensor_info& weights, const tensor_info& y, const window& w,
                                             std::int64_t groups, bool whole_rows) {
  const std::int64_t in = x.shape()[3], out = y.shape()[3];
  if (groups < 1 || in % groups != 0 || out % groups != 0 || !windows_fit(w, x, y)) return status_code::bad_step;
  if (whole_rows && (groups != 1 || w.dilation_w != 1 || x.strides()[2] != in)) return status_code::bad_step;
  const std::int64_t area = std::int64_t{w.kernel_h} * w.kernel_w, group_in = in / groups;
  if (area > max_elements / group_in) return status_code::bad_step;
  const std::int64_t bytes = quad_panel_bytes(out / groups, kernels::quads_of_window(w, group_in, whole_rows));
  if (!holds_quads(weights, groups, bytes)) return status_code::bad_weights;
  return check_quad_padding(constants, weights, w, whole_rows, groups, out / groups, group_in);
}

/// The rules that convolutions of stored integers share.
template <class Params>
struct quad_layer : never_in_place {
  static constexpr whole_axes whole(const Params&, int) { return {}; }
  /// Groups are cut only between panels, and panels only between groups.
  NSK_COLD static bool accepts_tiles(const Params& p, const step_view& s, const tile_size& t, const tile_grid& grid) {
    return cuts_between_panels(last_length(s.output()) / p.groups, p.groups, t, grid);
  }
  /// Where windows reach outside, patches of the input are copied.
  template <class Tensor>
  static std::int64_t scratch_bytes(const Params& p, const Tensor& x, const Tensor& y) {
    const window& w = p.w;
    const bool inside = windows_inside(w.pad_top, w.stride_h, w.kernel_h, w.dilation_h, x.shape()[1], y.shape()[1]) &&
                        windows_inside(w.pad_left, w.stride_w, w.kernel_w, w.dilation_w, x.shape()[2], y.shape()[2]);
    if (inside) return 0;
    return kernels::quantized_conv_2d_scratch_bytes(w, x.shape()[3] / p.groups, y.shape()[1], y.shape()[2]);
  }
  static std::uint64_t taps(const step_view& s, const Params& p) {
    return saturating_multiply(taps_of(p.w), static_cast<std::uint64_t>(s.input(0).shape()[3] / p.groups));
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
