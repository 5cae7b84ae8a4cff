// SPDX-License-Identifier: MIT
#pragma once
/// The inner tiles of depthwise convolution: channels in lanes, a few neighbouring pixels in registers.
///
/// Each output is one chain of fused multiply-adds: bias, then taps by kernel row and column. Taps outside the input
/// multiply zeros.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/epilogue.hpp>
#include <netsuke/kernels/pixel_block.hpp>
#include <netsuke/kernels/product/panels_of_tile.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Constants of one call. Strides in floats. `weights` is the panel whose column 0 is channel `first_channel`. Rows of
/// outputs begin at channel `origin`; with `whole` their last register is stored whole.
template <class Kernels, class Weight>
struct depthwise_call {
  const depthwise_conv_2d_args* a;
  const Weight* weights;
  register_epilogue<Kernels> e;                  ///< what register tiles do of it
  const tile_epilogue<Kernels>* whole_epilogue;  ///< all of it
  int channel_begin, channel_end, channels, taps;
  std::ptrdiff_t row, pixel;  ///< of the input
  pixel_block readable;
  int first_channel = 0, origin = 0;
  bool whole = false;
};

/// One image: its element at pixel (0, 0) in input, output and residual.
struct depthwise_image {
  const float* input;
  float* output;
  const float* residual;
};
/// Where the first output of a tile is and what is added to it (any address where nothing is), and the strides between
/// rows and pixels.
struct output_grid {
  float* output;
  std::ptrdiff_t row, pixel;
  const float* residual;
  std::ptrdiff_t residual_row, residual_pixel;

  NSK_INLINE void move(std::ptrdiff_t pixels) {
    output += pixels * pixel;
    residual += pixels * residual_pixel;
  }
  NSK_INLINE tile_row at(std::ptrdiff_t y, std::ptrdiff_t x) const {
    return {nullptr, output + y * row + x * pixel, residual + y * residual_row + x * residual_pixel};
  }
};
/// Outputs of the image from pixel (y, x) on.
inline output_grid outputs_from(const depthwise_conv_2d_args& a, const depthwise_image& m, int y, int x) {
  const std::ptrdiff_t *out = a.output.stride, *add = a.e.residual_stride;
  float* const first = m.output + y * out[1] + x * out[2];
  if (m.residual == nullptr) return {first, out[1], out[2], first, out[1], out[2]};
  return {first, out[1], out[2], m.residual + y * add[1] + x * add[2], add[1], add[2]};
}

/// A register tile of rows x pixels outputs on a path. On the general one, four outputs in a row, or one; on
/// wide_window, eight. No rows: none.
struct depthwise_tiling {
  fast_path path;
  int rows, pixels;
};

/// Maximum number of outputs of one register tile.
inline constexpr int depthwise_max_outputs = 14;

/// Outputs in a row of a strip that the nearest cache holds with the inputs that they read.
inline constexpr int l1_floats = 1024;

/// Returns how many pixels of a row are a strip, in tiles of `pixels`.
template <class Kernels, class Weight>
inline int l1_outputs(const depthwise_call<Kernels, Weight>& d, int pixels) {
  const int tiles = l1_floats / (pixels * (d.channel_end - d.channel_begin));
  return tiles > 1 ? tiles * pixels : pixels;
}

/// First tap of the window of output pixel (y, x).
template <class Kernels, class Weight>
NSK_INLINE const float* first_tap(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m, int y, int x) {
  const window& w = d.a->w;
  return m.input + (y * w.stride_h - w.pad_top) * d.row + (x * w.stride_w - w.pad_left) * d.pixel;
}

/// A column of a panel: its bias, and how many columns are in front of it.
template <class Weight>
struct panel_column {
  const float* bias;
  int inside;

  /// Its first weight, in a panel of `width` columns.
  NSK_INLINE const Weight* weights(std::ptrdiff_t width) const {
    constexpr int per_bias = weights_per_bias<Weight>;
    return reinterpret_cast<const Weight*>(bias) + per_bias * width - (per_bias - 1) * inside;
  }
};

/// Column of channel `c`, which is in `panel`.
template <class Kernels, class Weight>
NSK_INLINE panel_column<Weight> column_of(const depthwise_call<Kernels, Weight>& d, int panel, int c) {
  const int left = panel * panel_width;
  const Weight* first = d.weights + std::ptrdiff_t{left - d.first_channel} * (d.taps + weights_per_bias<Weight>);
  return {reinterpret_cast<const float*>(first) + (c - left), c - left};
}

/// Calls f(column of the first channel, weights between taps, channel, columns) for vectors of channels from `c` on.
template <class Kernels, class Weight, class F>
NSK_INLINE void for_channels_from(int c, const depthwise_call<Kernels, Weight>& d, F&& f) {
  const int last = static_cast<int>(panel_count(d.channels)) - 1;
  while (c < d.channel_end) {
    const int panel = c / panel_width < last ? c / panel_width : last;
    const int width = static_cast<int>(width_of_panel(d.channels, panel)), right = panel * panel_width + width,
              end = right < d.channel_end ? right : d.channel_end;
    for (; c < end; c += simd::f32::lanes)
      f(column_of(d, panel, c), width, c, d.whole || end - c >= simd::f32::lanes ? simd::f32::lanes : end - c);
    c = end;
  }
}
/// for_channels_from() for all channels of the call.
template <class Kernels, class Weight, class F>
NSK_INLINE void for_channels(const depthwise_call<Kernels, Weight>& d, F&& f) {
  for_channels_from(d.channel_begin, d, f);
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>