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
template <class Functions, class Weight>
struct depthwise_call {
  const depthwise_conv_2d_args* a;
  const Weight* weights;
  register_epilogue<Functions> e;
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
/// Where the first output of a tile is and what is added to it (any address where nothing is), and the steps between
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

/// Maximum number of outputs of one register tile.
inline constexpr int depthwise_max_outputs = 14;

/// Outputs in a row of a strip that the nearest cache holds with the inputs that they read.
inline constexpr int near_floats = 1024;

/// Returns how many pixels of a row are a strip, in tiles of `pixels`.
template <class Functions, class Weight>
inline int near_outputs(const depthwise_call<Functions, Weight>& d, int pixels) {
  const int tiles = near_floats / (pixels * (d.channel_end - d.channel_begin));
  return tiles > 1 ? tiles * pixels : pixels;
}

/// First tap of the window of output pixel (y, x).
template <class Functions, class Weight>
NSK_INLINE const float* first_tap(const depthwise_call<Functions, Weight>& d, const depthwise_image& m, int y, int x) {
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
template <class Functions, class Weight>
NSK_INLINE panel_column<Weight> column_of(const depthwise_call<Functions, Weight>& d, int panel, int c) {
  const int left = panel * panel_width;
  const Weight* first = d.weights + std::ptrdiff_t{left - d.first_channel} * (d.taps + weights_per_bias<Weight>);
  return {reinterpret_cast<const float*>(first) + (c - left), c - left};
}

/// Calls f(column of the first channel, weights between taps, channel, columns) for vectors of channels from `c` on.
template <class Functions, class Weight, class F>
NSK_INLINE void for_channels_from(int c, const depthwise_call<Functions, Weight>& d, F&& f) {
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
/// The same for all channels of the call.
template <class Functions, class Weight, class F>
NSK_INLINE void for_channels(const depthwise_call<Functions, Weight>& d, F&& f) {
  for_channels_from(d.channel_begin, d, f);
}

/// The taps of Rows kernel rows of one vector of channels.
template <int Kernel, int Rows>
struct depthwise_taps {
  simd::f32 tap[Rows * Kernel];

  template <class Weight>
  NSK_INLINE void load(const Weight* w, std::ptrdiff_t step) {
    simd::unroll<Rows * Kernel>([&](auto k) NSK_INLINE_LAMBDA { tap[k] = simd::load_weights(w + k * step); });
  }
};

/// Adds to Rows x Pixels outputs, whose chains begin at `sum`, what some rows of the kernel give, input row by input
/// row: each pixel is loaded once for all outputs whose windows it is in. `line` is the first pixel. Windows are
/// Stride apart along rows and StrideH down them.
template <int Kernel, int Stride, int StrideH, int Rows, int Pixels, int KernelRows>
NSK_INLINE void depthwise_rows_of_input(simd::f32 (*sum)[1], const float* line, std::ptrdiff_t row,
                                        std::ptrdiff_t pixel, const depthwise_taps<Kernel, KernelRows>& t) {
  using simd::unroll;
  unroll<(Rows - 1) * StrideH + KernelRows>([&](auto iy) NSK_INLINE_LAMBDA {
    const float* at = line;
    line += row;
    unroll<(Pixels - 1) * Stride + Kernel>([&](auto ix) NSK_INLINE_LAMBDA {
      const simd::f32 v = simd::load(at);
      at += pixel;
      unroll<Rows>([&](auto oy) NSK_INLINE_LAMBDA {
        constexpr int ky = static_cast<int>(decltype(iy)::value) - static_cast<int>(decltype(oy)::value) * StrideH;
        unroll<Kernel>([&](auto kx) NSK_INLINE_LAMBDA {
          constexpr int from = static_cast<int>(decltype(ix)::value) - static_cast<int>(decltype(kx)::value),
                        ox = from / Stride;
          if constexpr (ky >= 0 && ky < KernelRows && from >= 0 && from % Stride == 0 && ox < Pixels) {
            simd::f32& s = sum[oy * Pixels + ox][0];
            s = simd::fma(v, t.tap[ky * Kernel + kx], s);
          }
        });
      });
    });
  });
}

/// Whether taps of 3x3 windows stay in registers, and channels are the outer loop.
inline constexpr bool keeps_taps = simd::f32::registers >= 32;

/// One vector of channels of Rows x Pixels outputs, the first tap at `line`. Taps of all kernel rows are in `t`, or
/// loaded row by row from `w`, `step` apart.
template <int Kernel, int Stride, int StrideH, int Rows, int Pixels, int KernelRows, class Functions, class Weight>
NSK_INLINE void depthwise_vector(const depthwise_call<Functions, Weight>& d, const float* line, simd::f32 bias,
                                 depthwise_taps<Kernel, KernelRows>& t, const Weight* w, std::ptrdiff_t panel_step,
                                 const output_grid& to, int channel, int columns) {
  const std::ptrdiff_t row = simd::opaque(d.row), pixel = simd::opaque(d.pixel), step = simd::opaque(panel_step);
  simd::f32 sum[Rows * Pixels][1];
  simd::unroll<Rows * Pixels>([&](auto i) NSK_INLINE_LAMBDA { sum[i][0] = bias; });
  if constexpr (KernelRows == Kernel) {
    depthwise_rows_of_input<Kernel, Stride, StrideH, Rows, Pixels>(sum, line, row, pixel, t);
  } else {
    for (int ky = 0; ky < Kernel; ++ky, line += row, w += Kernel * step) {
      t.load(w, step);
      simd::unroll<Rows>([&](auto oy) NSK_INLINE_LAMBDA {
        depthwise_rows_of_input<Kernel, Stride, 1, 1, Pixels>(sum + oy * Pixels, line + oy * StrideH * row, row, pixel,
                                                              t);
      });
    }
  }
  store_tile_at(
      sum, d.e, [&](auto i) NSK_INLINE_LAMBDA { return to.at(i / Pixels, i % Pixels); }, channel, columns);
}

/// `pixels` outputs of each of Rows rows under a square window without dilation, the first tap of all at `x`, in tiles
/// of which the last one begins early so that it is whole. Channel after channel, as many tiles as the nearest cache
/// holds share a vector's taps and addresses; where registers do not hold the taps, tile after tile is faster.
template <int Kernel, int Stride, int Rows, int Pixels, int StrideH = Stride, class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_strip(const depthwise_call<Functions, Weight>& d, const float* x, int pixels,
                                         output_grid to) {
  static_assert(Rows * Pixels <= depthwise_max_outputs, "the block of an epilogue holds so many");
  constexpr int together = Kernel == 3 && keeps_taps ? Kernel : 1;
  for (int near = keeps_taps ? near_outputs(d, Pixels) : Pixels, left = pixels; left > 0; left -= near) {
    if (near > left) near = left;
    const int early = near < Pixels ? Pixels - near : 0;
    x -= early * Stride * d.pixel;
    to.move(-early);
    for_channels(
        d, [&](panel_column<Weight> column, std::ptrdiff_t panel_step, int channel, int columns) NSK_INLINE_LAMBDA {
          const simd::f32 bias = simd::load(column.bias);
          const Weight* const weights = column.weights(panel_step);
          depthwise_taps<Kernel, together> t;
          if constexpr (together == Kernel) t.load(weights, simd::opaque(panel_step));
          const float* first = x + channel;
          output_grid at = to;
          for (int rest = near - Pixels;;) {
            depthwise_vector<Kernel, Stride, StrideH, Rows, Pixels>(d, first, bias, t, weights, panel_step, at,
                                                                    channel - d.origin, columns);
            if (!keeps_taps || rest <= 0) return;
            const int some = rest < Pixels ? rest : Pixels;
            rest -= some;
            first += some * Stride * d.pixel;
            at.move(some);
          }
        });
    x += (near + early) * Stride * d.pixel;
    to.move(near + early);
  }
}

/// Four outputs of one row under any window, all taps inside.
template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_any_4(const depthwise_call<Functions, Weight>& d, const depthwise_image& m, int oy,
                                         int ox, const output_grid& to) {
  using simd::f32, simd::unroll;
  const float* const x = first_tap(d, m, oy, ox);
  const window& k = d.a->w;
  for_channels(d, [&](panel_column<Weight> column, std::ptrdiff_t step, int channel, int columns) NSK_INLINE_LAMBDA {
    f32 sum[4][1];
    unroll<4>([&](auto i) NSK_INLINE_LAMBDA { sum[i][0] = simd::load(column.bias); });
    const Weight* w = column.weights(step);
    for (int ky = 0; ky < k.kernel_h; ++ky) {
      const float* line = x + channel + ky * k.dilation_h * d.row;
      for (int kx = 0; kx < k.kernel_w; ++kx, w += step, line += k.dilation_w * d.pixel) {
        const f32 tap = simd::load_weights(w);
        unroll<4>([&](auto i) NSK_INLINE_LAMBDA {
          sum[i][0] = simd::fma(simd::load(line + i * k.stride_w * d.pixel), tap, sum[i][0]);
        });
      }
    }
    store_tile_at(
        sum, d.e, [&](auto i) NSK_INLINE_LAMBDA { return to.at(0, i); }, channel - d.origin, columns);
  });
}

/// Outputs side by side that share what they read: as many chains as hide the latency of a multiply-add.
inline constexpr int wide_window_outputs = 8;

/// Whether that is how `w` is computed, with code for it: all of them but one share at least one pixel of each row.
inline bool is_wide_window(const window& w) {
  return w.kernel_w >= wide_window_outputs - 1 && w.stride_w == 1 && w.dilation_w == 1;
}
template <class Functions, class Weight>
inline constexpr bool has_wide_windows =
    !std::is_same<Weight, half_bits>::value && has_kernel_window<Functions>(static_cast<int>(kernel_window::wide));

/// wide_window_outputs outputs of one row under a wide window, all taps inside. Each pixel is loaded once for all of
/// them, and taps come from the nearest cache, where a row of pixels, which are far apart, need not stay.
template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_wide_window(const depthwise_call<Functions, Weight>& d, const depthwise_image& m,
                                               int oy, int ox, const output_grid& to) {
  using simd::f32, simd::unroll;
  constexpr int outputs = wide_window_outputs, before = outputs - 1;
  const float* const x = first_tap(d, m, oy, ox);
  const window& k = d.a->w;
  for_channels(d, [&](panel_column<Weight> column, std::ptrdiff_t step, int channel, int columns) NSK_INLINE_LAMBDA {
    f32 sum[outputs][1];
    unroll<outputs>([&](auto i) NSK_INLINE_LAMBDA { sum[i][0] = simd::load(column.bias); });
    const Weight* w = column.weights(step);
    for (int ky = 0; ky < k.kernel_h; ++ky) {
      const float* pixel = x + channel + ky * k.dilation_h * d.row;
      const auto add = [&](const Weight* tap, auto first, auto count) NSK_INLINE_LAMBDA {
        const f32 a = simd::in_register(simd::load(pixel));
        unroll<decltype(count)::value>([&](auto i) NSK_INLINE_LAMBDA {
          constexpr int output = decltype(first)::value + decltype(i)::value;
          sum[output][0] = simd::fma(a, simd::load_weights(tap - output * step), sum[output][0]);
        });
        pixel += d.pixel;
      };
      unroll<before>([&](auto i) NSK_INLINE_LAMBDA {
        add(w + i * step, std::integral_constant<int, 0>{}, std::integral_constant<int, decltype(i)::value + 1>{});
      });
      w += before * step;
      for (int kx = before; kx < k.kernel_w; ++kx, w += step)
        add(w, std::integral_constant<int, 0>{}, std::integral_constant<int, outputs>{});
      unroll<before>([&](auto i) NSK_INLINE_LAMBDA {
        constexpr int first = decltype(i)::value + 1;
        add(w + i * step, std::integral_constant<int, first>{}, std::integral_constant<int, outputs - first>{});
      });
    }
    store_tile_at(
        sum, d.e, [&](auto i) NSK_INLINE_LAMBDA { return to.at(0, i); }, channel - d.origin, columns);
  });
}

/// One output under any window for vectors of channels, from the first tap at pixel (y, x); `panel_step` weights from
/// panel to panel where there are several. Taps outside read zeros.
template <int Vectors, class Functions, class Weight>
NSK_INLINE void depthwise_one(const depthwise_call<Functions, Weight>& d, const depthwise_image& m, int y, int x,
                              panel_column<Weight> column, std::ptrdiff_t step, std::ptrdiff_t panel_step, int channel,
                              int columns, const output_grid& to) {
  using simd::f32;
  const std::ptrdiff_t bias_step = panel_step * static_cast<std::ptrdiff_t>(sizeof(Weight)) / 4;
  f32 sum[1][Vectors];
  simd::unroll<Vectors>([&](auto v)
                            NSK_INLINE_LAMBDA { sum[0][v] = simd::load(column.bias + vector_offset(v, bias_step)); });
  const window& k = d.a->w;
  const Weight* w = column.weights(step);
  for (int ky = 0; ky < k.kernel_h; ++ky) {
    const int iy = y + ky * k.dilation_h;
    const bool row_inside = iy >= d.readable.y && iy < d.readable.y_end;
    for (int kx = 0; kx < k.kernel_w; ++kx, w += step) {
      const int ix = x + kx * k.dilation_w;
      const bool inside = row_inside && ix >= d.readable.x && ix < d.readable.x_end;
      const std::ptrdiff_t from = iy * d.row + ix * d.pixel + channel;
      simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
        const f32 pixel = inside ? simd::load(m.input + from + v * f32::lanes) : simd::zero();
        sum[0][v] = simd::fma(pixel, simd::load_weights(w + vector_offset(v, panel_step)), sum[0][v]);
      });
    }
  }
  store_tile_at(
      sum, d.e, [&](auto) NSK_INLINE_LAMBDA { return to.at(0, 0); }, channel - d.origin, columns);
}

/// The same for all channels: four vectors of whole panels at once, so that no chain waits for itself, then one by one.
template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_any_1(const depthwise_call<Functions, Weight>& d, const depthwise_image& m, int oy,
                                         int ox, const output_grid& to) {
  constexpr int each = panel_width / simd::f32::lanes, panels = each < 4 ? 4 / each : 1, wide = panels * panel_width;
  const window& k = d.a->w;
  const int y = oy * k.stride_h - k.pad_top, x = ox * k.stride_w - k.pad_left;
  int c = d.channel_begin;
  for (; whole_panels(d.channels, 0, c / panel_width, c, d.channel_end) >= panels; c += wide)
    depthwise_one<panels * each>(d, m, y, x, column_of(d, c / panel_width, c), panel_width,
                                 std::ptrdiff_t{panel_width} * (d.taps + weights_per_bias<Weight>), c, wide, to);
  for_channels_from(c, d,
                    [&](panel_column<Weight> column, std::ptrdiff_t step, int channel, int columns)
                        NSK_INLINE_LAMBDA { depthwise_one<1>(d, m, y, x, column, step, 0, channel, columns, to); });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
