// SPDX-License-Identifier: MIT
#pragma once
/// Pixels of images at fractional positions, of which each group of channels has its own.
///
/// Order of operations: a position x is clamped to [-1, length] (NaN gives -1); next = x - floor(x), rest = 1 - next.
/// Rows have the weights rest * factor and next * factor, columns rest and next. With pixels p of two rows and two
/// columns, y = (p00 * column0 + p01 * column1) * row0 + (p10 * column0 + p11 * column1) * row1; each operation rounds.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output [N, P, Q, G, C] = factors * image [N, H, W, G, C] at (rows, columns), all three [N, P, Q, G]; linear between
/// pixels, zeros outside. The last dimensions of image and output have stride 1, all others any.
struct sample_image_args : sample_image_params {
  tensor_view image, rows, columns, factors, output;
};

namespace impl {

/// Some places: offsets of their images and results; their positions, which become whole numbers and weights.
struct sampled_places {
  static constexpr int maximum = 16;
  std::ptrdiff_t image[maximum], to[maximum];
  alignas(64) float row[maximum], column[maximum], factor[maximum], row_weight[2][maximum], column_weight[2][maximum];
};

/// Splits positions into whole ones and the weights of those and of the next ones, times `factor` where there is one.
inline void split_positions(float* position, float (&weight)[2][sampled_places::maximum], std::int32_t length,
                            const float* factor) {
  using simd::f32;
  const f32 high = simd::splat(static_cast<float>(length)), one = simd::splat(1);
  for (int i = 0; i < sampled_places::maximum; i += f32::lanes) {
    const f32 x = simd::clamp(simd::load(position + i), simd::splat(-1), high), first = simd::floor(x);
    const f32 next = simd::sub(x, first), rest = simd::sub(one, next),
              times = factor != nullptr ? simd::load(factor + i) : one;
    simd::store(position + i, first);
    simd::store(weight[0] + i, factor != nullptr ? simd::mul(rest, times) : rest);
    simd::store(weight[1] + i, factor != nullptr ? simd::mul(next, times) : next);
  }
}

/// Four neighbours: the first pixel, and strides to the next row and the next column; which of them are in the image.
struct neighbours {
  const float* image;
  std::ptrdiff_t at, row_stride, column_stride;
  bool rows[2], columns[2];
};
struct neighbour_weights {
  float row[2], column[2];
};

/// Computes `channels` elements. With `Inside`, all neighbours are in the image.
template <bool Inside>
NSK_INLINE void sample_pixel(const neighbours& p, const neighbour_weights& w, float* to, int channels) {
  using simd::f32;
  const f32 row[2] = {simd::splat(w.row[0]), simd::splat(w.row[1])},
            column[2] = {simd::splat(w.column[0]), simd::splat(w.column[1])};
  for (int c = 0; c < channels; c += f32::lanes) {
    const auto pixel = [&](int i, int j) NSK_INLINE_LAMBDA {
      if (!Inside && !(p.rows[i] && p.columns[j])) return simd::zero();
      return simd::load(p.image + p.at + i * p.row_stride + j * p.column_stride + c);
    };
    const auto between = [&](int i) NSK_INLINE_LAMBDA {
      return simd::add(simd::mul(pixel(i, 0), column[0]), simd::mul(pixel(i, 1), column[1]));
    };
    const f32 y = simd::add(simd::mul(between(0), row[0]), simd::mul(between(1), row[1]));
    if (channels - c >= f32::lanes)
      simd::store(to + c, y);
    else
      simd::store_partial(to + c, channels - c, y);
  }
}

/// Samples `count` places whose offsets and positions `s` holds, channels of the tile.
NSK_NOINLINE inline void sample_places(const sample_image_args& a, const tile_range& t, sampled_places& s, int count) {
  const int height = a.image.shape[1], width = a.image.shape[2], channels = t.channel_end - t.channel_begin;
  split_positions(s.row, s.row_weight, height, s.factor);
  split_positions(s.column, s.column_weight, width, nullptr);
  neighbours p{a.image.as<float>() + t.channel_begin, 0, a.image.stride[1], a.image.stride[2], {}, {}};
  float* const output = a.output.as<float>() + t.channel_begin;
  const auto rows_inside = static_cast<unsigned>(height - 1), columns_inside = static_cast<unsigned>(width - 1);
  for (int i = 0; i < count; ++i) {
    const int row = static_cast<int>(s.row[i]), column = static_cast<int>(s.column[i]);
    const neighbour_weights w{{s.row_weight[0][i], s.row_weight[1][i]}, {s.column_weight[0][i], s.column_weight[1][i]}};
    p.at = s.image[i] + row * p.row_stride + column * p.column_stride;
    if (static_cast<unsigned>(row) < rows_inside && static_cast<unsigned>(column) < columns_inside) {
      sample_pixel<true>(p, w, output + s.to[i], channels);
      continue;
    }
    for (int k = 0; k < 2; ++k) {
      p.rows[k] = row + k >= 0 && row + k < height;
      p.columns[k] = column + k >= 0 && column + k < width;
    }
    sample_pixel<false>(p, w, output + s.to[i], channels);
  }
}

/// to[i] = from[i * stride].
inline void take_floats(float* to, const float* from, std::ptrdiff_t stride, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i * stride];
}
inline void count_offsets(std::ptrdiff_t* to, std::ptrdiff_t first, std::ptrdiff_t stride, int count) {
  for (int i = 0; i < count; ++i) to[i] = first + i * stride;
}

/// Takes what belongs to `count` places (n, p, q, g), (n, p + 1, q, g), ... into `s`, from number `i` on.
NSK_NOINLINE inline void take_places(const sample_image_args& a, const int (&place)[4], int count, sampled_places& s,
                                     int i) {
  const auto at = [&](const tensor_view& v) {
    std::ptrdiff_t offset = 0;
    for (int d = 0; d < 4; ++d) offset += place[d] * v.stride[d];
    return offset;
  };
  count_offsets(s.to + i, at(a.output), a.output.stride[1], count);
  count_offsets(s.image + i, place[0] * a.image.stride[0] + place[3] * a.image.stride[3], 0, count);
  take_floats(s.row + i, a.rows.as<float>() + at(a.rows), a.rows.stride[1], count);
  take_floats(s.column + i, a.columns.as<float>() + at(a.columns), a.columns.stride[1], count);
  take_floats(s.factor + i, a.factors.as<float>() + at(a.factors), a.factors.stride[1], count);
}

/// Lines are counted through N and P; this computes [begin, end) of them, at (q, g).
inline void sample_lines(const sample_image_args& a, const tile_range& t, sampled_places& s, std::int64_t begin,
                         std::int64_t end, int q, int g) {
  const std::int64_t outer = a.output.shape[1];
  for (int count = 0; begin < end; begin += count, count = 0) {
    while (count < sampled_places::maximum && begin + count < end) {
      const std::int64_t line = begin + count, wanted = end - line, space = sampled_places::maximum - count,
                         rest = outer - line % outer, shorter = wanted < space ? wanted : space;
      const int place[4] = {static_cast<int>(line / outer), static_cast<int>(line % outer), q, g},
                run = static_cast<int>(shorter < rest ? shorter : rest);
      take_places(a, place, run, s, count);
      count += run;
    }
    sample_places(a, t, s, count);
  }
}

}

/// Computes one tile; float32. The image may be read 64 bytes past its end. Places that are taken together are
/// neighbours in dimension P, 64 before the next q and g: that is how positions are in memory where a convolution made
/// them.
template <class = void>
inline void sample_image(const sample_image_args& a, const tile_range& t, std::byte*) {
  const std::int64_t inner = a.output.shape[2], first = t.row_begin, last = t.row_end - 1, together = 64;
  impl::sampled_places s{};
  for (std::int64_t line = first / inner; line <= last / inner; line += together)
    for (int q = 0; q < inner; ++q) {
      const std::int64_t low = (first - q + inner - 1) / inner, high = (last - q + inner) / inner,
                         begin = line > low ? line : low, end = line + together < high ? line + together : high;
      for (int g = t.pixel_begin; g < t.pixel_end; ++g) impl::sample_lines(a, t, s, begin, end, q, g);
    }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
