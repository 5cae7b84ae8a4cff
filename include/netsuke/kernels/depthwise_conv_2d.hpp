// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution. 3x3 and 5x5 windows with stride 1 or 2 have tiles of 2 x 4 and 1 x 7 pixels; other windows
/// have tiles of four pixels; windows that reach outside the input and its border go one pixel at a time.
#include <cstddef>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/impl/depthwise_tile.hpp>
#include <netsuke/kernels/impl/rows.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// One image: its element at pixel (0, 0) in input, output and residual.
struct depthwise_image {
  const float* input;
  float* output;
  const float* residual;
};

/// A block of output pixels [y, y_end) x [x, x_end) of one image.
struct pixel_block {
  int y, y_end, x, x_end;
};

template <int Rows, int Pixels>
NSK_INLINE tile_outputs<Rows * Pixels> outputs_at(const depthwise_call& d, const depthwise_image& m, int y, int x) {
  tile_outputs<Rows * Pixels> to;
  const tensor_view& v = d.a->output;
  const std::ptrdiff_t* step = d.a->e.residual_stride;
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    simd::unroll<Pixels>([&](auto p) NSK_INLINE_LAMBDA {
      to.row[r * Pixels + p].output = m.output + (y + r) * v.stride[1] + (x + p) * v.stride[2];
      to.row[r * Pixels + p].residual =
          m.residual == nullptr ? nullptr : m.residual + (y + r) * step[1] + (x + p) * step[2];
    });
  });
  return to;
}

/// First tap of the window of output pixel (y, x).
NSK_INLINE const float* first_tap(const depthwise_call& d, const depthwise_image& m, int y, int x) {
  const window& w = d.a->w;
  return m.input + (y * w.stride_h - w.pad_top) * d.row + (x * w.stride_w - w.pad_left) * d.pixel;
}

/// Pixels one by one, whatever their windows touch.
template <class = void>
NSK_ONE_COPY inline void depthwise_slow(const depthwise_call& d, const depthwise_image& m, const pixel_block& b) {
  const window& w = d.a->w;
  for (int y = b.y; y < b.y_end; ++y)
    for (int x = b.x; x < b.x_end; ++x)
      depthwise_any_1(d, m.input, y * w.stride_h - w.pad_top, x * w.stride_w - w.pad_left,
                      outputs_at<1, 1>(d, m, y, x));
}

/// Rows x Pixels tiles over the block. The last tiles of rows and columns begin early so that they are whole (the same
/// bits are stored twice); therefore the block has at least Rows x Pixels pixels, and where it is no multiple of them
/// the residual is not the output.
template <int Kernel, int Stride, int Rows, int Pixels>
NSK_ONE_COPY inline void depthwise_tiles(const depthwise_call& d, const depthwise_image& m, const pixel_block& b) {
  for (int row = b.y; row < b.y_end; row += Rows) {
    const int y = row + Rows <= b.y_end ? row : b.y_end - Rows;
    for (int column = b.x; column < b.x_end; column += Pixels) {
      const int x = column + Pixels <= b.x_end ? column : b.x_end - Pixels;
      depthwise_tile<Kernel, Stride, Rows, Pixels>(d, first_tap(d, m, y, x), outputs_at<Rows, Pixels>(d, m, y, x));
    }
  }
}

/// A block whose windows lie inside, for square kernels without dilation; false if it has no tile for the block.
template <int Kernel, int Stride>
inline bool depthwise_fast(const depthwise_call& d, const depthwise_image& m, const pixel_block& b) {
  const int width = b.x_end - b.x, height = b.y_end - b.y;
  if (width % 7 == 0 && (width < 14 || height < 2)) return depthwise_tiles<Kernel, Stride, 1, 7>(d, m, b), true;
  if (width < 4 || height < 2 || d.a->e.residual != nullptr) return false;
  return depthwise_tiles<Kernel, Stride, 2, 4>(d, m, b), true;
}

/// A block whose windows lie inside.
template <class = void>
NSK_ONE_COPY inline void depthwise_inside(const depthwise_call& d, const depthwise_image& m, const pixel_block& b) {
  const window& w = d.a->w;
  const bool square = w.kernel_h == w.kernel_w && w.stride_h == w.stride_w && w.dilation_h == 1 && w.dilation_w == 1;
  if (square && w.kernel_h == 3 && w.stride_h == 1 && depthwise_fast<3, 1>(d, m, b)) return;
  if (square && w.kernel_h == 3 && w.stride_h == 2 && depthwise_fast<3, 2>(d, m, b)) return;
  if (square && w.kernel_h == 5 && w.stride_h == 1 && depthwise_fast<5, 1>(d, m, b)) return;
  if (square && w.kernel_h == 5 && w.stride_h == 2 && depthwise_fast<5, 2>(d, m, b)) return;
  for (int y = b.y; y < b.y_end; ++y) {
    int x = b.x;
    for (; x + 4 <= b.x_end; x += 4) depthwise_any_4(d, first_tap(d, m, y, x), outputs_at<1, 4>(d, m, y, x));
    depthwise_slow(d, m, {y, y + 1, x, b.x_end});
  }
}

template <class = void>
NSK_ONE_COPY inline void depthwise_block(const depthwise_call& d, const depthwise_image& m, const pixel_block& b) {
  const window& w = d.a->w;
  pixel_block in = b;
  cut_inside(in.y, in.y_end, w.stride_h, w.pad_top, (w.kernel_h - 1) * w.dilation_h, d.top, d.bottom);
  cut_inside(in.x, in.x_end, w.stride_w, w.pad_left, (w.kernel_w - 1) * w.dilation_w, d.left, d.right);
  depthwise_slow(d, m, {b.y, in.y, b.x, b.x_end});
  depthwise_slow(d, m, {in.y, in.y_end, b.x, in.x});
  if (in.y < in.y_end && in.x < in.x_end) depthwise_inside(d, m, in);
  depthwise_slow(d, m, {in.y, in.y_end, in.x_end, b.x_end});
  depthwise_slow(d, m, {in.y_end, b.y_end, b.x, b.x_end});
}

}

/// Convolves one tile. Strides of the last dimension of input and output are 1.
template <class = void>
inline void depthwise_conv_2d(const depthwise_conv_2d_args& a, const tile_range& t, std::byte*) {
  const tensor_view &in = a.input, &out = a.output;
  const halo border = in.fill == 0 ? in.border : halo{};
  const impl::depthwise_call d{&a,
                               prepare(a.e, out.rank),
                               t.channel_begin,
                               t.channel_end,
                               out.shape[3],
                               a.w.kernel_h * a.w.kernel_w,
                               in.stride[1],
                               in.stride[2],
                               -border.top,
                               -border.left,
                               in.shape[1] + border.bottom,
                               in.shape[2] + border.right};
  const int height = out.shape[1];
  for (int row = t.row_begin; row < t.row_end;) {
    const int image = row / height, y = row % height, left = t.row_end - row,
              rows = left < height - y ? left : height - y;
    const impl::depthwise_image m{in.as<float>() + image * in.stride[0], out.as<float>() + image * out.stride[0],
                                  a.e.residual == nullptr ? nullptr : a.e.residual + image * a.e.residual_stride[0]};
    impl::depthwise_block(d, m, {y, y + rows, t.pixel_begin, t.pixel_end});
    row += rows;
  }
  fill_border(out, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
