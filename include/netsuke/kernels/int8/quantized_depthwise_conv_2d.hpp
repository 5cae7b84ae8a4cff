// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution of stored integers, by the rule of kernels/int8/quantized_gemm.hpp. The rows of a column of
/// the window are quads, so that a pixel is rearranged once for all outputs of a tile that see it. An offset of the
/// weights is a quad that all columns share: what it adds is computed once for all outputs of a tile that see a column.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/params.hpp>
#include <netsuke/format/scratch.hpp>
#include <netsuke/kernels/pixel_block.hpp>
#include <netsuke/kernels/int8/quantized_gemm.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Depthwise convolution of bytes [N, H, W, C] by panels of quads (format/packing.hpp). Bytes outside the image are
/// input_zero; weights are those of the file and weight_offset; the result is stored by zero, low and high.
struct quantized_depthwise_conv_2d_args : quantized_depthwise_conv_2d_params {
  quad_products products = quad_products::exact;
  tensor_view input, output;  ///< of bytes; last dimensions have stride 1
  const std::byte* weights;
};

namespace impl {

/// Channels that are computed together: four vectors. At most 64, on any machine.
inline constexpr int quad_channels = 4 * simd::i32::lanes, max_quad_channels = 64;
/// Where there are no more, vectors take two pixels at a time: their constants are there twice.
inline constexpr int half_channels = quad_channels / 2;

/// The rows that the windows of one row of outputs read: where the place of a quad finds column 0, and how far its
/// columns are apart. Rows outside are one byte that stands for 0, again and again.
struct byte_rows {
  const std::uint8_t* first;
  std::ptrdiff_t stride;
};

/// One block of channels: constants in the order of the vectors, and where the bytes are.
struct byte_block {
  const quantized_depthwise_conv_2d_args* a;
  const std::int32_t* bias;
  const float* scale;
  const std::int8_t* quads;
  const std::uint8_t* outside;  ///< max_quad_channels times what stands for 0
  byte_rows* rows;              ///< one for each place of quads
  const std::int32_t* offsets;  ///< the quad of each group that adds the offset of the weights; null: there is none
  int channel, channels, groups;
  simd::u8_range range;
};
/// Channels that are neighbours in vectors as they are in panels.
inline constexpr int neighbour_channels = simd::i32::lanes < 4 ? 1 : 4;

/// Brings the constants of the channels from `channel` on into the order of vectors, `Together` at a time; what is
/// behind the last channel is zeros.
template <int Together>
NSK_ONE_COPY inline void order_constants(const quantized_depthwise_conv_2d_args& a, int channel, bool twice,
                                         std::byte* scratch) {
  const std::int64_t channels = a.output.shape[3], quads = depthwise_quads(a.w.kernel_h, a.w.kernel_w);
  const int last = static_cast<int>(panel_count(channels)) - 1;
  for (int c = 0; c < quad_channels; c += Together) {
    const int source = channel + (twice ? c % half_channels : c);
    const bool exists = source < padded_channels(channels);
    const int panel = source / panel_width < last ? source / panel_width : last;
    const std::int64_t width = width_of_panel(channels, panel);
    const std::byte* from = a.weights + std::int64_t{4} * (panel_width * panel * (quads + 1) + source);
    std::byte* to = scratch + 4 * simd::place_of_channel(c);
    for (std::int64_t q = 0; q < quads + 2; ++q, to += 4 * quad_channels, from += 4 * width) {
      if (exists)
        std::memcpy(to, from, 4 * Together);
      else
        std::memset(to, 0, 4 * Together);
    }
  }
}

/// Products of layers whose weights have an offset.
template <class Products>
struct with_offset : Products {};
template <class Products>
inline constexpr bool has_offset = false;
template <class Products>
inline constexpr bool has_offset<with_offset<Products>> = true;

/// Stores the quads that add the offset, one for each group of places: the first place of each row has it.
inline void make_offsets(const quantized_depthwise_conv_2d_params& p, std::int32_t* offsets) {
  for (int place = 0; place < depthwise_places(p.w.kernel_h); place += 4) {
    std::int8_t quad[4];
    for (int i = place; i < place + 4; ++i) {
      const bool first = i == 0 || row_of_place(i, p.w.kernel_h) != row_of_place(i - 1, p.w.kernel_h);
      quad[i - place] = first ? static_cast<std::int8_t>(p.weight_offset) : std::int8_t{0};
    }
    std::memcpy(offsets + place / 4, quad, sizeof quad);
  }
}

/// Adds what the products leave out to the biases in scratch, those with the offset included.
NSK_INLINE void complete_biases(std::byte* scratch, std::int64_t quads, const std::int32_t* offsets, int groups) {
  using simd::i32;
  auto* const bias = reinterpret_cast<std::int32_t*>(scratch);
  const auto* const weights = reinterpret_cast<const std::int8_t*>(scratch) + 8 * quad_channels;
  for (int c = 0; c < quad_channels; c += i32::lanes) {
    i32 sum = simd::load_i32(bias + c);
    for (std::int64_t q = 0; q < quads; ++q)
      sum = simd::add_left_out(sum, simd::load_quads(weights + 4 * (q * quad_channels + c)));
    for (std::int64_t q = 0; q < quads && offsets != nullptr; ++q)
      sum = simd::add_left_out(sum, simd::splat_i32(offsets[q % groups]));
    simd::store_i32(bias + c, sum);
  }
}

/// One block of channels. Scratch holds its biases, scales and quads, then the bytes outside the image, the rows and
/// the offsets. Tiles may begin at any channel, but panels end at multiples of 8.
NSK_ONE_COPY inline byte_block load_byte_block(const quantized_depthwise_conv_2d_args& a, int channel, int channel_end,
                                               std::byte* scratch) {
  const std::int64_t quads = depthwise_quads(a.w.kernel_h, a.w.kernel_w);
  const int left = channel_end - channel;
  const bool twice = left <= half_channels;  // vectors take two pixels at a time
  // From a multiple of neighbour_channels on, so many channels are in one panel and are copied together.
  if (channel % neighbour_channels == 0)
    order_constants<neighbour_channels>(a, channel, twice, scratch);
  else
    order_constants<1>(a, channel, twice, scratch);
  const int places = depthwise_places(a.w.kernel_h);
  std::byte* const outside = scratch + 4 * quad_channels * (quads + 2);
  std::memset(outside, a.input_zero, max_quad_channels);
  auto* const rows = reinterpret_cast<byte_rows*>(outside + max_quad_channels);
  std::int32_t* const offsets = a.weight_offset != 0 ? reinterpret_cast<std::int32_t*>(rows + places) : nullptr;
  if (offsets != nullptr) make_offsets(a, offsets);
  if constexpr (simd::dots_leave_out) complete_biases(scratch, quads, offsets, places / 4);
  byte_block b{};
  b.a = &a;
  b.bias = reinterpret_cast<const std::int32_t*>(scratch);
  b.scale = reinterpret_cast<const float*>(scratch) + quad_channels;
  b.quads = reinterpret_cast<const std::int8_t*>(scratch) + 8 * quad_channels;
  b.outside = reinterpret_cast<const std::uint8_t*>(outside);
  b.rows = rows;
  b.offsets = offsets;
  b.channel = channel;
  b.channels = left < quad_channels ? left : quad_channels;
  b.groups = places / 4;
  b.range = {static_cast<std::int16_t>(a.zero), static_cast<std::uint8_t>(a.low), static_cast<std::uint8_t>(a.high)};
  return b;
}

/// Stores four vectors of sums as the bytes of one pixel, or of two: the other one is `other` bytes behind.
template <bool Pair>
NSK_INLINE void store_byte_block(const byte_block& b, const simd::i32 (&sum)[4], std::uint8_t* to,
                                 std::ptrdiff_t other = 0) {
  using simd::f32;
  f32 x[4];
  simd::unroll<4>(
      [&](auto v) NSK_INLINE_LAMBDA { x[v] = simd::mul(simd::to_f32(sum[v]), simd::load(b.scale + v * f32::lanes)); });
  if (!Pair && b.channels == quad_channels) return simd::store_quads_u8(to, x, b.range);
  std::uint8_t line[quad_channels + 16];  // which copy_bytes reads in pieces of 16
  simd::store_quads_u8(line, x, b.range);
  simd::copy_bytes(to, line, b.channels);
  if constexpr (Pair) simd::copy_bytes(to + other, line + half_channels, b.channels);
}

/// Finds the rows of windows that begin in row y of an image.
inline void find_byte_rows(const byte_block& b, const std::uint8_t* image, int y, byte_rows* rows) {
  const window& w = b.a->w;
  const tensor_view& in = b.a->input;
  for (int i = 0; i < 4 * b.groups; ++i) {
    const int line = y + row_of_place(i, w.kernel_h) * w.dilation_h;
    const bool inside = line >= 0 && line < in.shape[1];
    rows[i] = inside ? byte_rows{image + line * in.stride[1], in.stride[2]} : byte_rows{b.outside, 0};
  }
}

/// Adds what the offset of the weights makes of column `Column` of a tile to all outputs that see it.
template <class Products, int Kernel, int Stride, int Column, int Pixels>
NSK_INLINE void add_offset(simd::i32 (&sum)[Pixels][4], const simd::i32 (&quads)[4], std::int32_t offset) {
  using simd::i32;
  simd::unroll<4>([&](auto v) NSK_INLINE_LAMBDA {
    [[maybe_unused]] const i32 added = Products::add(simd::splat_i32(0), quads[v], simd::splat_i32(offset));
    simd::unroll<Pixels>([&](auto p) NSK_INLINE_LAMBDA {
      constexpr int k = Column - static_cast<int>(decltype(p)::value) * Stride;
      if constexpr (k >= 0 && k < Kernel) sum[p][v] = simd::add(sum[p][v], added);
    });
  });
}

/// Outputs in tiles of `Pixels` neighbours, from column x of the input on, under a kernel of `Kernel` columns that all
/// are inside. As a pair, a tile has two such runs, in the halves of its vectors.
template <class Products, int Kernel, int Stride, int Pixels, bool Pair>
NSK_ONE_COPY inline void quad_tiles_of_line(const byte_block& b, const byte_rows* rows, int x, int tiles,
                                            std::uint8_t* output) {
  using simd::i32;
  using simd::unroll;
  constexpr int pixels = Pair ? 2 * Pixels : Pixels;
  const std::ptrdiff_t out_pixel = b.a->output.stride[2];
  for (; tiles > 0; --tiles, x += pixels * Stride, output += pixels * out_pixel) {
    i32 sum[Pixels][4];
    unroll<4>([&](auto v) NSK_INLINE_LAMBDA {
      const i32 bias = simd::load_i32(b.bias + v * i32::lanes);
      unroll<Pixels>([&](auto p) NSK_INLINE_LAMBDA { sum[p][v] = bias; });
    });
    const std::int8_t* weights = b.quads;
    const byte_rows* from = rows;
    for (int g = 0; g < b.groups; ++g, weights += Kernel * 4 * quad_channels, from += 4) {
      const std::uint8_t* row[4];
      std::ptrdiff_t stride[4];
      unroll<4>([&](auto i) NSK_INLINE_LAMBDA {
        stride[i] = from[i].stride;
        row[i] = from[i].first + x * stride[i];
      });
      unroll<(Pixels - 1) * Stride + Kernel>([&](auto column) NSK_INLINE_LAMBDA {
        i32 quads[4];
        if constexpr (Pair) {
          const std::uint8_t* other[4];
          unroll<4>([&](auto i) NSK_INLINE_LAMBDA { other[i] = row[i] + Pixels * Stride * stride[i]; });
          simd::interleave_quads(row, other, quads);
        } else {
          simd::interleave_quads(row, quads);
        }
        unroll<4>([&](auto i) NSK_INLINE_LAMBDA { row[i] += stride[i]; });
        unroll<Kernel>([&](auto k) NSK_INLINE_LAMBDA {
          constexpr int ahead = static_cast<int>(decltype(column)::value) - static_cast<int>(decltype(k)::value),
                        p = ahead / Stride;
          if constexpr (ahead >= 0 && ahead % Stride == 0 && p < Pixels)
            unroll<4>([&](auto v) NSK_INLINE_LAMBDA {
              sum[p][v] = Products::add(sum[p][v], quads[v],
                                        simd::load_quads(weights + 4 * (k * quad_channels + v * i32::lanes)));
            });
        });
        if constexpr (has_offset<Products>) add_offset<Products, Kernel, Stride, column>(sum, quads, b.offsets[g]);
      });
    }
    unroll<Pixels>([&](auto p) NSK_INLINE_LAMBDA {
      store_byte_block<Pair>(b, sum[p], output + p * out_pixel, Pixels * out_pixel);
    });
  }
}

/// One output under any window whose first tap is column x.
template <class Products>
NSK_ONE_COPY inline void quad_pixel(const byte_block& b, const byte_rows* rows, int x, std::uint8_t* to) {
  using simd::i32;
  using simd::unroll;
  const window& w = b.a->w;
  i32 sum[4];
  unroll<4>([&](auto v) NSK_INLINE_LAMBDA { sum[v] = simd::load_i32(b.bias + v * i32::lanes); });
  const std::int8_t* weights = b.quads;
  for (int g = 0; g < b.groups; ++g, rows += 4)
    for (int k = 0; k < w.kernel_w; ++k, weights += 4 * quad_channels) {
      const int column = x + k * w.dilation_w;
      const bool inside = column >= 0 && column < b.a->input.shape[2];
      const std::uint8_t* row[4];
      for (int i = 0; i < 4; ++i) row[i] = inside ? rows[i].first + column * rows[i].stride : b.outside;
      i32 quads[4];
      simd::interleave_quads(row, quads);
      unroll<4>([&](auto v) NSK_INLINE_LAMBDA {
        sum[v] = Products::add(sum[v], quads[v], simd::load_quads(weights + 4 * v * i32::lanes));
        if constexpr (has_offset<Products>) sum[v] = Products::add(sum[v], quads[v], simd::splat_i32(b.offsets[g]));
      });
    }
  store_byte_block<false>(b, sum, to);
}

/// Outputs of a tile in registers, where kernels have three columns.
inline constexpr int quad_pixels_stride_1 = simd::f32::registers > 16 ? 4 : 2, quad_pixels_stride_2 = 2;

/// Output pixels [begin, end) of one row, to `output`, in tiles of pairs or without. Where tiles overlap, the same
/// bytes are stored again.
template <class Products, bool Pair>
inline void quad_line(const byte_block& b, const byte_rows* rows, int begin, int end, std::uint8_t* output) {
  const window& w = b.a->w;
  const std::ptrdiff_t out_pixel = b.a->output.stride[2];
  const auto one_by_one = [&](int from, int to) {
    for (int x = from; x < to; ++x) quad_pixel<Products>(b, rows, x * w.stride_w - w.pad_left, output + x * out_pixel);
  };
  const auto in_tiles = [&](int from, int tiles) {
    const int x = from * w.stride_w - w.pad_left;
    std::uint8_t* const to = output + from * out_pixel;
    if (w.stride_w == 1)
      quad_tiles_of_line<Products, 3, 1, quad_pixels_stride_1, Pair>(b, rows, x, tiles, to);
    else
      quad_tiles_of_line<Products, 3, 2, quad_pixels_stride_2, Pair>(b, rows, x, tiles, to);
  };
  int first = begin, last = end;
  cut_inside(first, last, w.stride_w, w.pad_left, (w.kernel_w - 1) * w.dilation_w, 0, b.a->input.shape[2]);
  const bool tiled = w.kernel_w == 3 && w.dilation_w == 1 && w.stride_w <= 2;
  const int pixels = (w.stride_w == 1 ? quad_pixels_stride_1 : quad_pixels_stride_2) * (Pair ? 2 : 1);
  if (!tiled || last - first < pixels) return one_by_one(begin, end);
  one_by_one(begin, first);
  in_tiles(first, (last - first) / pixels);
  if ((last - first) % pixels != 0) in_tiles(last - pixels, 1);
  one_by_one(last, end);
}

/// All rows of a tile for one block of channels.
template <class Products>
NSK_ONE_COPY inline void quad_lines(const byte_block& b, const tile_range& t) {
  const tensor_view &in = b.a->input, &out = b.a->output;
  for (int row = t.row_begin; row < t.row_end; ++row) {
    const int image = row / out.shape[1], y = row % out.shape[1];
    find_byte_rows(b, in.as<std::uint8_t>() + image * in.stride[0] + b.channel, y * b.a->w.stride_h - b.a->w.pad_top,
                   b.rows);
    std::uint8_t* const to = out.as<std::uint8_t>() + image * out.stride[0] + y * out.stride[1] + b.channel;
    constexpr bool pairs = Products::weights == 1 && !has_offset<Products>;  // others are rare, and not worth the code
    if constexpr (pairs)
      if (b.channels <= half_channels) {
        quad_line<Products, true>(b, b.rows, t.pixel_begin, t.pixel_end, to);
        continue;
      }
    quad_line<Products, false>(b, b.rows, t.pixel_begin, t.pixel_end, to);
  }
}

}

static_assert(sizeof(impl::byte_rows) <= 16, "lane scratch has so many bytes for each place");
/// Bytes of lane scratch: the constants of 64 channels, a line of bytes outside, the rows of a window, and where
/// weights have an offset the quads that add it.
constexpr std::int64_t quantized_depthwise_conv_2d_scratch_bytes(const window& w, bool offset) {
  return whole_lines(4 * impl::max_quad_channels * (depthwise_quads(w.kernel_h, w.kernel_w) + 2) +
                     impl::max_quad_channels + (offset ? 17 : 16) * depthwise_places(w.kernel_h));
}

/// Convolves one tile. Up to `over_read` bytes past the end of the input may be read.
template <class Support = quad_support<>>
inline void quantized_depthwise_conv_2d(const quantized_depthwise_conv_2d_args& a, const tile_range& t,
                                        std::byte* scratch) {
  for (int c = t.channel_begin; c < t.channel_end; c += impl::quad_channels) {
    const impl::byte_block b = impl::load_byte_block(a, c, t.channel_end, scratch);
    if constexpr (Support::offsets)
      if (a.weight_offset != 0) {  // two copies serve all products
        if (a.products == quad_products::at_once)
          impl::quad_lines<impl::with_offset<impl::dot4_native>>(b, t);
        else
          impl::quad_lines<impl::with_offset<impl::exact_quads>>(b, t);
        continue;
      }
    if (a.products == quad_products::at_once)
      impl::quad_lines<impl::dot4_native>(b, t);
    else if (a.products == quad_products::safe || !Support::unsafe)
      impl::quad_lines<impl::dot4_narrow>(b, t);
    else if constexpr (Support::unsafe)
      impl::quad_lines<impl::exact_quads>(b, t);
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
