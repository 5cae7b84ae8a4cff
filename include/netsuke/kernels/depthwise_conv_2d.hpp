// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution. 3x3 and 5x5 windows with stride 1 or 2 have tiles of 2 x 4 and 1 x 7 pixels; other windows
/// have tiles of four pixels; windows that reach outside the input and its border go one pixel at a time.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/impl/depthwise_tile.hpp>
#include <netsuke/kernels/impl/rows.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// A block of output pixels [y, y_end) x [x, x_end) of one image.
struct pixel_block {
  int y, y_end, x, x_end;
};

/// A register tile of rows x pixels outputs under a square kernel of that size without dilation; kernel 0: under any
/// window, four outputs in a row whose taps all are inside, or one.
struct depthwise_tiling {
  int kernel, stride, rows, pixels;
};

template <int Kernel, int Stride, class Functions, class Weight>
NSK_INLINE void square_tile(const depthwise_tiling& tiling, const depthwise_call<Functions, Weight>& d,
                            const depthwise_image& m, int y, int x, const tile_row* to) {
  if (tiling.rows == 2) return depthwise_tile<Kernel, Stride, 2, 4>(d, m, y, x, to);
  depthwise_tile<Kernel, Stride, 1, 7>(d, m, y, x, to);
}
template <class Functions, class Weight>
inline void compute_tile(const depthwise_tiling& tiling, const depthwise_call<Functions, Weight>& d,
                         const depthwise_image& m, int y, int x, const tile_row* to) {
  if (tiling.kernel == 3 && tiling.stride == 1) return square_tile<3, 1>(tiling, d, m, y, x, to);
  if (tiling.kernel == 3) return square_tile<3, 2>(tiling, d, m, y, x, to);
  if (tiling.kernel == 5 && tiling.stride == 1) return square_tile<5, 1>(tiling, d, m, y, x, to);
  if (tiling.kernel == 5) return square_tile<5, 2>(tiling, d, m, y, x, to);
  if (tiling.pixels == 4) return depthwise_any_4(d, m, y, x, to);
  depthwise_any_1(d, m, y, x, to);
}

/// Channels whose results wait in a block for an epilogue that is not done in registers.
inline constexpr int block_channels = 64;

/// Computes one tile, the first output at pixel (y, x).
template <class Functions, class Weight>
inline void run_depthwise_tile(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                               const depthwise_image& m, const depthwise_tiling& tiling, int y, int x) {
  const tensor_view& v = d.a->output;
  const std::ptrdiff_t* step = d.a->e.residual_stride;
  const bool adds = m.residual != nullptr;
  const int count = tiling.rows * tiling.pixels;
  tile_row to[depthwise_max_outputs], waiting[depthwise_max_outputs];
  for (int r = 0, i = 0; r < tiling.rows; ++r) {
    float* output = m.output + (y + r) * v.stride[1] + x * v.stride[2];
    const float* residual = adds ? m.residual + (y + r) * step[1] + x * step[2] : nullptr;
    for (int p = 0; p < tiling.pixels; ++p, output += v.stride[2]) {
      to[i++] = {nullptr, output, residual};
      if (adds) residual += step[2];
    }
  }
  if (e.in_registers) return compute_tile(tiling, d, m, y, x, to);
  alignas(64) float block[depthwise_max_outputs * block_channels];
  depthwise_call<Functions, Weight> part = d;
  part.whole = true;
  for (int c = d.channel_begin; c < d.channel_end; c += block_channels) {
    const int left = d.channel_end - c, columns = left < block_channels ? left : block_channels;
    const int width = (columns + simd::f32::lanes - 1) / simd::f32::lanes * simd::f32::lanes;
    part.channel_begin = part.origin = c;
    part.channel_end = c + columns;
    for (int i = 0; i < count; ++i) waiting[i].output = block + i * width;
    compute_tile(tiling, part, m, y, x, waiting);
    finish_block(block, count, width, e, to, c, columns);
  }
}

/// Tiles over the block. The last tiles of rows and columns begin early so that they are whole (the same bits are
/// stored twice); therefore the block has at least one tile, and where it is no multiple of them the residual is not
/// the output.
template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_tiles(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                                         const depthwise_image& m, const pixel_block& b,
                                         const depthwise_tiling& tiling) {
  for (int row = b.y; row < b.y_end; row += tiling.rows) {
    const int y = row + tiling.rows <= b.y_end ? row : b.y_end - tiling.rows;
    for (int column = b.x; column < b.x_end; column += tiling.pixels) {
      const int x = column + tiling.pixels <= b.x_end ? column : b.x_end - tiling.pixels;
      run_depthwise_tile(d, e, m, tiling, y, x);
    }
  }
}

/// Pixels one by one, whatever their windows touch.
template <class Functions, class Weight>
inline void depthwise_slow(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                           const depthwise_image& m, const pixel_block& b) {
  depthwise_tiles(d, e, m, b, {0, 0, 1, 1});
}

/// The tiling for a block whose windows are inside, under 3x3 and 5x5 kernels; no rows where there is none.
template <class Functions, class Weight>
inline depthwise_tiling square_tiling(const depthwise_call<Functions, Weight>& d, const pixel_block& b) {
  const window& w = d.a->w;
  const int width = b.x_end - b.x, height = b.y_end - b.y, kernel = w.kernel_h, stride = w.stride_h;
  if (w.kernel_w != kernel || w.stride_w != stride || w.dilation_h != 1 || w.dilation_w != 1) return {};
  if ((kernel != 3 && kernel != 5) || stride > 2) return {};
  if (width % 7 == 0 && (width < 14 || height < 2)) return {kernel, stride, 1, 7};
  if (width < 4 || height < 2 || d.a->e.residual != nullptr) return {};
  return {kernel, stride, 2, 4};
}

/// A block whose windows are inside.
template <class Functions, class Weight>
inline void depthwise_inside(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                             const depthwise_image& m, const pixel_block& b) {
  const depthwise_tiling fast = square_tiling(d, b);
  if (fast.rows > 0) return depthwise_tiles(d, e, m, b, fast);
  const int last = b.x_end - (b.x_end - b.x) % 4;
  depthwise_tiles(d, e, m, {b.y, b.y_end, b.x, last}, {0, 0, 1, 4});
  depthwise_slow(d, e, m, {b.y, b.y_end, last, b.x_end});
}

template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_block(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                                         const depthwise_image& m, const pixel_block& b) {
  const window& w = d.a->w;
  pixel_block in = b;
  cut_inside(in.y, in.y_end, w.stride_h, w.pad_top, (w.kernel_h - 1) * w.dilation_h, d.top, d.bottom);
  cut_inside(in.x, in.x_end, w.stride_w, w.pad_left, (w.kernel_w - 1) * w.dilation_w, d.left, d.right);
  depthwise_slow(d, e, m, {b.y, in.y, b.x, b.x_end});
  depthwise_slow(d, e, m, {in.y, in.y_end, b.x, in.x});
  if (in.y < in.y_end && in.x < in.x_end) depthwise_inside(d, e, m, in);
  depthwise_slow(d, e, m, {in.y, in.y_end, in.x_end, b.x_end});
  depthwise_slow(d, e, m, {in.y_end, b.y_end, b.x, b.x_end});
}

}

/// Convolves one tile. Strides of the last dimension of input and output are 1.
template <class Functions = all_functions, class Weight = float>
inline void depthwise_conv_2d(const depthwise_conv_2d_args& a, const tile_range& t, std::byte*) {
  const tensor_view &in = a.input, &out = a.output;
  const halo border = in.fill == 0 ? in.border : halo{};
  const tile_epilogue<Functions> e = prepare<Functions>(a.e, out.rank);
  const impl::depthwise_call<Functions, Weight> d{&a,
                                                  e.registers,
                                                  t.channel_begin,
                                                  t.channel_end,
                                                  out.shape[3],
                                                  a.w.kernel_h * a.w.kernel_w,
                                                  0,
                                                  in.stride[1],
                                                  in.stride[2],
                                                  -border.top,
                                                  -border.left,
                                                  in.shape[1] + border.bottom,
                                                  in.shape[2] + border.right,
                                                  false};
  const int height = out.shape[1];
  for (int row = t.row_begin; row < t.row_end;) {
    const int image = row / height, y = row % height, left = t.row_end - row,
              rows = left < height - y ? left : height - y;
    const impl::depthwise_image m{in.as<float>() + image * in.stride[0], out.as<float>() + image * out.stride[0],
                                  a.e.residual == nullptr ? nullptr : a.e.residual + image * a.e.residual_stride[0]};
    impl::depthwise_block(d, e, m, {y, y + rows, t.pixel_begin, t.pixel_end});
    row += rows;
  }
  fill_border(out, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
