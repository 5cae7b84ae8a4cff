// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution. 3x3 and 5x5 windows with stride 1 or 2 along rows have tiles of 1 or 2 x 7 and 2 x 4 pixels;
/// other windows have tiles of four pixels; windows that reach outside the input and its border go one pixel at a time.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/depthwise/paths/pixel_pairs.hpp>
#include <netsuke/kernels/product/widened_panels.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// A register tile of rows x pixels outputs under a square kernel of that size without dilation, with that stride along
/// rows, and down them where it has several; kernel 0: under any window, four outputs in a row whose taps all are
/// inside, or one.
struct depthwise_tiling {
  int kernel, stride, rows, pixels;
};

/// Maximum number of rows of a tile seven pixels wide: two with stride 1 where there are registers for so many sums.
template <int Stride>
inline constexpr int rows_of_seven = Stride == 1 && simd::f32::registers >= 32 ? 2 : 1;

/// Computes outputs under one of the square windows; there is no code for those that the kernel set has not.
template <int Kernel, int Stride, class Functions, class Weight>
NSK_INLINE void square_strip(const depthwise_tiling& tiling, const depthwise_call<Functions, Weight>& d, const float* x,
                             int pixels, const output_grid& to) {
  if constexpr (has_kernel_window<Functions>(depthwise_window_of(Kernel, Stride))) {
    if (tiling.pixels == 7 && tiling.rows == 1) return depthwise_strip<Kernel, Stride, 1, 7>(d, x, pixels, to);
    if constexpr (rows_of_seven<Stride> == 2)
      if (tiling.pixels == 7) return depthwise_strip<Kernel, Stride, 2, 7>(d, x, pixels, to);
    depthwise_strip<Kernel, Stride, 2, 4>(d, x, pixels, to);
  }
}
/// Outputs from pixel (y, x) on: `pixels` of each row under a square kernel, in tiles one behind the other, else one
/// tile.
template <class Functions, class Weight>
NSK_ONE_COPY inline void compute_tiles(const depthwise_tiling& tiling, const depthwise_call<Functions, Weight>& d,
                                       const depthwise_image& m, int y, int x, int pixels, const output_grid& to) {
  if (tiling.kernel == 0) {
    if constexpr (has_wide_windows<Functions, Weight>)
      if (tiling.pixels == wide_window_outputs) return depthwise_wide_window(d, m, y, x, to);
    return tiling.pixels == 4 ? depthwise_any_4(d, m, y, x, to) : depthwise_any_1(d, m, y, x, to);
  }
  const float* const first = first_tap(d, m, y, x);
  if (tiling.kernel == 3 && tiling.stride == 1) return square_strip<3, 1>(tiling, d, first, pixels, to);
  if (tiling.kernel == 3) return square_strip<3, 2>(tiling, d, first, pixels, to);
  if (tiling.stride == 1) return square_strip<5, 1>(tiling, d, first, pixels, to);
  square_strip<5, 2>(tiling, d, first, pixels, to);
}

/// Channels whose results wait in a block for an epilogue that is done neither in registers nor in place.
inline constexpr int block_channels = 64;

/// Computes one tile under such an epilogue, the first output at pixel (y, x).
template <class Functions, class Weight>
inline void depthwise_block_tile(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                                 const depthwise_image& m, const depthwise_tiling& tiling, int y, int x) {
  const int count = tiling.rows * tiling.pixels;
  const output_grid outputs = outputs_from(*d.a, m, y, x);
  tile_row to[depthwise_max_outputs];
  for (int i = 0; i < count; ++i) to[i] = outputs.at(i / tiling.pixels, i % tiling.pixels);
  alignas(64) float block[depthwise_max_outputs * block_channels];
  depthwise_call<Functions, Weight> part = d;
  part.whole = true;
  for (int c = d.channel_begin; c < d.channel_end; c += block_channels) {
    const int left = d.channel_end - c, columns = left < block_channels ? left : block_channels;
    const int width = (columns + simd::f32::lanes - 1) / simd::f32::lanes * simd::f32::lanes;
    part.channel_begin = part.origin = c;
    part.channel_end = c + columns;
    compute_tiles(tiling, part, m, y, x, tiling.pixels,
                  {block, tiling.pixels * width, width, block, tiling.pixels * width, width});
    finish_block(block, count, width, e, to, c, columns);
  }
}

/// Computes the function of the epilogue in place, for outputs [y, y_end) x [x, x + pixels).
template <class Functions, class Weight>
inline void map_strip(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                      const depthwise_image& m, int y, int y_end, int x, int pixels) {
  const tensor_view& out = d.a->output;
  const std::ptrdiff_t columns = d.channel_end - d.channel_begin, step = out.stride[2];
  const bool dense = step == columns;
  for (; y < y_end; ++y) {
    float* const first = m.output + y * out.stride[1] + x * step + d.channel_begin;
    map_lines<Functions>(*e.e, {first, step, false}, {first, step},
                         dense ? extent{1, pixels * columns} : extent{pixels, columns});
  }
}

/// Tiles over the block, strip by strip. The last tiles of rows and columns begin early so that they are whole (the
/// same bits are stored twice); therefore the block has at least one tile, and where it is no multiple of them the
/// residual is not the output.
template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_tiles(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                                         const depthwise_image& m, const pixel_block& b,
                                         const depthwise_tiling& tiling) {
  const bool blocks = !e.stores_tiles();
  const int strip = tiling.kernel == 0 || blocks ? tiling.pixels
                    : e.in_registers             ? b.x_end - b.x
                                                 : near_outputs(d, tiling.pixels);
  for (int row = b.y; row < b.y_end; row += tiling.rows) {
    const int y = row + tiling.rows <= b.y_end ? row : b.y_end - tiling.rows;
    for (int column = b.x; column < b.x_end; column += strip) {
      const int left = b.x_end - column, some = left < strip ? left : strip,
                pixels = some < tiling.pixels ? tiling.pixels : some, x = column - (pixels - some);
      if (blocks) {
        depthwise_block_tile(d, e, m, tiling, y, x);
        continue;
      }
      compute_tiles(tiling, d, m, y, x, pixels, outputs_from(*d.a, m, y, x));
      if (e.maps()) map_strip(d, e, m, y, y + tiling.rows, x, pixels);
    }
  }
}

/// Pixels one by one, whatever their windows touch.
template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_slow(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                                        const depthwise_image& m, const pixel_block& b) {
  depthwise_tiles(d, e, m, b, {0, 0, 1, 1});
}

/// Whether tiles of 2 x 7 are best for rows of `width` outputs, of which the last tile computes some twice: where they
/// compute fewer than those of 2 x 4, and with 5x5 windows, which repay twice as many chains, up to an eighth more.
constexpr bool prefers_sevens(int kernel, int width) {
  const int sevens = (width + 6) / 7 * 7, fours = (width + 3) / 4 * 4;
  return width > 7 && (kernel == 5 ? sevens * 8 <= fours * 9 : sevens < fours);
}

/// The tiling for a block whose windows are inside, under the square windows of the kernel set; no rows where there is
/// none. Tiles do not overlap where there is a residual, which may be the output. Tiles of one row serve single rows,
/// and other strides down rows than along them.
template <class Functions, class Weight>
inline depthwise_tiling square_tiling(const depthwise_call<Functions, Weight>& d, const pixel_block& b) {
  const window& w = d.a->w;
  const int width = b.x_end - b.x, height = b.y_end - b.y, kernel = w.kernel_h, stride = w.stride_w;
  const int number = depthwise_window_of(w);
  if (number < 0 || !has_kernel_window<Functions>(number)) return {};
  const int rows = stride == 1 ? rows_of_seven<1> : 1;
  const bool adds = d.a->e.residual != nullptr,
             pairs = height > 1 && w.stride_h == stride && !(adds && height % 2 != 0);
  const bool sevens = width % 7 == 0 || (!adds && prefers_sevens(kernel, width));
  if (pairs && rows == 2 && sevens) return {kernel, stride, 2, 7};
  if (width % 7 == 0 && rows == 1 && width <= 14) return {kernel, stride, 1, 7};
  if (pairs && width >= 4 && !(adds && width % 4 != 0)) return {kernel, stride, 2, 4};
  if (!pairs && width >= 7 && !(adds && width % 7 != 0)) return {kernel, stride, 1, 7};
  return {};
}

/// A block whose windows are inside.
template <class Functions, class Weight>
inline void depthwise_inside(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                             const depthwise_image& m, const pixel_block& b) {
  if constexpr (has_pixel_pairs<Functions, Weight>())
    if (takes_pixel_pairs(d, e, b)) return depthwise_pixel_pairs(d, m, b);
  const depthwise_tiling fast = square_tiling(d, b);
  if (fast.rows > 0) return depthwise_tiles(d, e, m, b, fast);
  const bool is_wide = has_wide_windows<Functions, Weight> && is_wide_window(d.a->w);
  const int wide = is_wide ? b.x_end - b.across() % wide_window_outputs : b.x, fours = b.x_end - b.across() % 4;
  depthwise_tiles(d, e, m, {b.y, b.y_end, b.x, wide}, {0, 0, 1, wide_window_outputs});
  depthwise_tiles(d, e, m, {b.y, b.y_end, wide, fours}, {0, 0, 1, 4});
  depthwise_slow(d, e, m, {b.y, b.y_end, fours, b.x_end});
}

template <class Functions, class Weight>
NSK_ONE_COPY inline void depthwise_block(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                                         const depthwise_image& m, const pixel_block& b) {
  const pixel_block inside = inside_of(b, d.a->w, d.readable);
  for_surroundings(b, inside, [&](const pixel_block& part) { depthwise_slow(d, e, m, part); });
  if (inside.down() > 0 && inside.across() > 0) depthwise_inside(d, e, m, inside);
}

/// Rows of the tile, image by image.
template <class Functions, class Weight>
inline void depthwise_rows(const depthwise_call<Functions, Weight>& d, const tile_epilogue<Functions>& e,
                           const tile_range& t) {
  const depthwise_conv_2d_args& a = *d.a;
  const tensor_view &in = a.input, &out = a.output;
  for_images(t, out.shape[1], [&](int image, int y, int y_end) {
    const depthwise_image m{in.as<float>() + image * in.stride[0], out.as<float>() + image * out.stride[0],
                            a.e.residual == nullptr ? nullptr : a.e.residual + image * a.e.residual_stride[0]};
    depthwise_block(d, e, m, {y, y_end, t.pixel_begin, t.pixel_end});
  });
}

/// What the register tiles of a call share, for channels [begin, end).
template <class Functions, class Weight>
inline depthwise_call<Functions, Weight> depthwise_call_of(const depthwise_conv_2d_args& a,
                                                           const register_epilogue<Functions>& e, int begin, int end) {
  const tensor_view& in = a.input;
  const auto weights = static_cast<const Weight*>(a.weights);
  const int channels = a.output.shape[3], taps = a.w.kernel_h * a.w.kernel_w;
  return {&a, weights, e, begin, end, channels, taps, in.stride[1], in.stride[2], readable_pixels(in)};
}

/// Pixels from which on it pays to widen weights for all of them: two register tiles.
inline constexpr int min_wide_pixels = 2 * depthwise_max_outputs;
/// Maximum number of widened weights: less than of products, as functions are computed in larger blocks.
using wide_depthwise_block = wide_block<3584>;

/// Computes a tile under weights of float16 as under the same weights in float32. Returns false, and does nothing,
/// where it has few pixels or a panel does not fit into a block.
template <class Functions>
NSK_ONE_COPY inline bool depthwise_wide(const depthwise_conv_2d_args& a, const tile_epilogue<Functions>& e,
                                        const tile_range& t) {
  depthwise_call<Functions, wide_float> d = depthwise_call_of<Functions, wide_float>(a, e.registers, 0, 0);
  const int pixels = (t.row_end - t.row_begin) * (t.pixel_end - t.pixel_begin);
  if (pixels < min_wide_pixels || !wide_depthwise_block::fits(d.taps)) return false;
  wide_depthwise_block wide;
  d.weights = wide.data;
  const int panels = static_cast<int>(panel_count(d.channels)), last = panels - 1;
  for (int panel = t.channel_begin / panel_width < last ? t.channel_begin / panel_width : last; panel < panels;) {
    d.first_channel = panel * panel_width;
    if (d.first_channel >= t.channel_end) break;
    panel = widen_panels(wide, static_cast<const half_bits*>(a.weights), d.channels, d.taps, panel, panels);
    const int end = panel < panels ? panel * panel_width : d.channels;
    d.channel_begin = d.first_channel > t.channel_begin ? d.first_channel : t.channel_begin;
    d.channel_end = end < t.channel_end ? end : t.channel_end;
    depthwise_rows(d, e, t);
  }
  return true;
}

}

/// Convolves one tile. Strides of the last dimension of input and output are 1.
template <class Functions = all_functions, class Weight = float>
NSK_ONE_COPY inline void depthwise_conv_2d(const depthwise_conv_2d_args& a, const tile_range& t, std::byte*) {
  const tile_epilogue<Functions> e = prepare<Functions>(a.e, a.output.rank);
  bool done = false;
  if constexpr (std::is_same<Weight, half_bits>::value) done = impl::depthwise_wide(a, e, t);
  if (!done)
    impl::depthwise_rows(impl::depthwise_call_of<Functions, Weight>(a, e.registers, t.channel_begin, t.channel_end), e,
                         t);
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
