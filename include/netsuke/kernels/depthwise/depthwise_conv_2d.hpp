// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution on one of the paths in depthwise/paths/. Windows that reach outside the input and its border
/// go one pixel at a time.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/depthwise/paths/general.hpp>
#include <netsuke/kernels/depthwise/paths/square.hpp>
#include <netsuke/kernels/depthwise/paths/wide_window.hpp>
#include <netsuke/kernels/product/widened_panels.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Returns the path of a depthwise convolution, on any instruction set.
constexpr fast_path path_of(const depthwise_conv_2d_params& p) {
  return impl::is_wide_window(p.w) ? fast_path::wide_window : impl::square_path(p.w);
}

namespace impl {

/// Outputs from pixel (y, x) on: `pixels` of each row on a path of square windows, else one tile.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void run_tiles(const depthwise_tiling& tiling, const depthwise_call<Kernels, Weight>& d,
                                   const depthwise_image& m, int y, int x, int pixels, const output_grid& to) {
  if constexpr (has_wide_windows<Kernels, Weight>)
    if (tiling.path == fast_path::wide_window) return depthwise_wide_window(d, m, y, x, to);
  if (tiling.path == fast_path::general)
    return tiling.pixels == 4 ? general_4_pixels(d, m, y, x, to) : general_1_pixel(d, m, y, x, to);
  square_tiles(tiling, d, first_tap(d, m, y, x), pixels, to);
}

/// Channels whose results wait in a block for an epilogue that is done neither in registers nor in place.
inline constexpr int block_channels = 64;

/// Computes one tile under such an epilogue, the first output at pixel (y, x).
template <class Kernels, class Weight>
inline void depthwise_block_tile(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m,
                                 const depthwise_tiling& tiling, int y, int x) {
  const int count = tiling.rows * tiling.pixels;
  const output_grid outputs = outputs_from(*d.a, m, y, x);
  tile_row to[depthwise_max_outputs];
  for (int i = 0; i < count; ++i) to[i] = outputs.at(i / tiling.pixels, i % tiling.pixels);
  alignas(64) float block[depthwise_max_outputs * block_channels];
  depthwise_call<Kernels, Weight> part = d;
  part.whole = true;
  for (int c = d.channel_begin; c < d.channel_end; c += block_channels) {
    const int left = d.channel_end - c, columns = left < block_channels ? left : block_channels;
    const int width = (columns + simd::f32::lanes - 1) / simd::f32::lanes * simd::f32::lanes;
    part.channel_begin = part.origin = c;
    part.channel_end = c + columns;
    run_tiles(tiling, part, m, y, x, tiling.pixels,
              {block, tiling.pixels * width, width, block, tiling.pixels * width, width});
    finish_block(block, count, width, *d.whole_epilogue, to, c, columns);
  }
}

/// Computes the function of the epilogue in place, for outputs [y, y_end) x [x, x + pixels).
template <class Kernels, class Weight>
inline void map_strip(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m, int y, int y_end, int x,
                      int pixels) {
  const tensor_view& out = d.a->output;
  const std::ptrdiff_t columns = d.channel_end - d.channel_begin, stride = out.stride[2];
  const bool dense = stride == columns;
  for (; y < y_end; ++y) {
    float* const first = m.output + y * out.stride[1] + x * stride + d.channel_begin;
    map_lines<Kernels>(*d.whole_epilogue->e, {first, stride, false}, {first, stride},
                       dense ? extent{1, pixels * columns} : extent{pixels, columns});
  }
}

/// Tiles over the block, strip by strip. The last tiles of rows and columns begin early so that they are whole (the
/// same bits are stored twice); therefore the block has at least one tile, and where it is no multiple of them the
/// residual is not the output.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void depthwise_tiles(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m,
                                         const pixel_block& b, const depthwise_tiling& tiling) {
  const tile_epilogue<Kernels>& e = *d.whole_epilogue;
  const bool blocks = !e.stores_tiles();
  const bool is_square = tiling.path != fast_path::general && tiling.path != fast_path::wide_window;
  const int strip = !is_square || blocks ? tiling.pixels : e.in_registers ? b.across() : l1_outputs(d, tiling.pixels);
  for (int row = b.y; row < b.y_end; row += tiling.rows) {
    const int y = row + tiling.rows <= b.y_end ? row : b.y_end - tiling.rows;
    for (int column = b.x; column < b.x_end; column += strip) {
      const int left = b.x_end - column, some = left < strip ? left : strip,
                pixels = some < tiling.pixels ? tiling.pixels : some, x = column - (pixels - some);
      if (blocks) {
        depthwise_block_tile(d, m, tiling, y, x);
        continue;
      }
      run_tiles(tiling, d, m, y, x, pixels, outputs_from(*d.a, m, y, x));
      if (e.maps()) map_strip(d, m, y, y + tiling.rows, x, pixels);
    }
  }
}

/// Pixels one by one, whatever their windows touch.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void general_pixels(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m,
                                        const pixel_block& b) {
  depthwise_tiles(d, m, b, {fast_path::general, 1, 1});
}

/// A block whose windows are inside.
template <class Kernels, class Weight>
inline void depthwise_inside(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m, pixel_block b) {
  const fast_path path = path_of(*d.a);
  if (path == fast_path::wide_window) {
    if constexpr (has_wide_windows<Kernels, Weight>) {
      Kernels::took(path);
      const int wide = b.x_end - b.across() % wide_window_outputs;
      depthwise_tiles(d, m, {b.y, b.y_end, b.x, wide}, {path, 1, wide_window_outputs});
      b.x = wide;
    }
  } else if (path != fast_path::general && Kernels::has(path)) {
    const depthwise_tiling tiling = square_tiling(path, d, b);
    if (tiling.rows > 0) {
      Kernels::took(path);
      return depthwise_tiles(d, m, b, tiling);
    }
  }
  const int fours = b.x_end - b.across() % 4;
  depthwise_tiles(d, m, {b.y, b.y_end, b.x, fours}, {fast_path::general, 1, 4});
  general_pixels(d, m, {b.y, b.y_end, fours, b.x_end});
}

template <class Kernels, class Weight>
NSK_ONE_COPY inline void depthwise_block(const depthwise_call<Kernels, Weight>& d, const depthwise_image& m,
                                         const pixel_block& b) {
  const pixel_block inside = inside_of(b, d.a->w, d.readable);
  for_surroundings(b, inside, [&](const pixel_block& part) { general_pixels(d, m, part); });
  if (inside.down() > 0 && inside.across() > 0) depthwise_inside(d, m, inside);
}

/// Rows of the tile, image by image.
template <class Kernels, class Weight>
inline void depthwise_rows(const depthwise_call<Kernels, Weight>& d, const tile_range& t) {
  const depthwise_conv_2d_args& a = *d.a;
  const tensor_view &in = a.input, &out = a.output;
  for_images(t, out.shape[1], [&](int image, int y, int y_end) {
    const depthwise_image m{in.as<float>() + image * in.stride[0], out.as<float>() + image * out.stride[0],
                            a.e.residual == nullptr ? nullptr : a.e.residual + image * a.e.residual_stride[0]};
    depthwise_block(d, m, {y, y_end, t.pixel_begin, t.pixel_end});
  });
}

/// What the register tiles of a call share, for channels [begin, end).
template <class Kernels, class Weight>
inline depthwise_call<Kernels, Weight> depthwise_call_of(const depthwise_conv_2d_args& a,
                                                         const tile_epilogue<Kernels>& e, int begin, int end) {
  const tensor_view& in = a.input;
  depthwise_call<Kernels, Weight> d;
  d.a = &a;
  d.weights = static_cast<const Weight*>(a.weights);
  d.e = e.registers;
  d.whole_epilogue = &e;
  d.channel_begin = begin;
  d.channel_end = end;
  d.channels = a.output.shape[3];
  d.taps = a.w.kernel_h * a.w.kernel_w;
  d.row = in.stride[1];
  d.pixel = in.stride[2];
  d.readable = readable_pixels(in);
  return d;
}

/// Pixels from which on it pays to widen weights for all of them: two register tiles.
inline constexpr int min_widened_pixels = 2 * depthwise_max_outputs;
/// Maximum number of widened weights: less than of products, as functions are computed in larger blocks.
using widened_depthwise_block = widened_block<3584>;

/// Computes a tile under weights of float16 as under the same weights in float32. Returns false, and does nothing,
/// where it has few pixels or a panel does not fit into a block.
template <class Kernels>
NSK_ONE_COPY inline bool depthwise_widened(const depthwise_conv_2d_args& a, const tile_epilogue<Kernels>& e,
                                           const tile_range& t) {
  depthwise_call<Kernels, widened_float> d = depthwise_call_of<Kernels, widened_float>(a, e, 0, 0);
  const int pixels = (t.row_end - t.row_begin) * (t.pixel_end - t.pixel_begin);
  if (pixels < min_widened_pixels || !widened_depthwise_block::fits(d.taps)) return false;
  widened_depthwise_block widened;
  d.weights = widened.data;
  const int panels = static_cast<int>(panel_count(d.channels)), last = panels - 1;
  for (int panel = t.channel_begin / panel_width < last ? t.channel_begin / panel_width : last; panel < panels;) {
    d.first_channel = panel * panel_width;
    if (d.first_channel >= t.channel_end) break;
    panel = widen_panels(widened, static_cast<const half_bits*>(a.weights), d.channels, d.taps, panel, panels);
    const int end = panel < panels ? panel * panel_width : d.channels;
    d.channel_begin = d.first_channel > t.channel_begin ? d.first_channel : t.channel_begin;
    d.channel_end = end < t.channel_end ? end : t.channel_end;
    depthwise_rows(d, t);
  }
  return true;
}

}

/// Convolves one tile. Strides of the last dimension of input and output are 1.
template <class Kernels = all_kernels, class Weight = float>
NSK_ONE_COPY inline void depthwise_conv_2d(const depthwise_conv_2d_args& a, const tile_range& t, std::byte*) {
  const tile_epilogue<Kernels> e = prepare<Kernels>(a.e, a.output.rank);
  bool done = false;
  if constexpr (std::is_same<Weight, half_bits>::value) done = impl::depthwise_widened(a, e, t);
  if (!done) impl::depthwise_rows(impl::depthwise_call_of<Kernels, Weight>(a, e, t.channel_begin, t.channel_end), t);
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
