// SPDX-License-Identifier: MIT
#pragma once
/// Maximum and average pooling of floats, and maximum of bytes: lanes over channels, taps in row-major order.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Maximum or average over a window. Taps outside the input are skipped; the average divides by the taps inside, or
/// with count_include_pad by the taps inside the input padded by w.pad_top, w.pad_left, pad_bottom, pad_right.
struct pool_2d_args : pool_2d_params {
  tensor_view input, output;
};

namespace impl {

/// Taps of one output pixel: `rows` x `columns` of them from `from` on, strides in elements.
template <class Element>
struct pool_taps {
  const Element* from;
  std::ptrdiff_t row, column;
  std::int32_t rows, columns;
  float divisor;
};

/// What pooling does with vectors of floats.
struct pool_floats {
  using element = float;
  using vector = simd::f32;
  static NSK_INLINE vector load(const float* p) { return simd::load(p); }
  static NSK_INLINE void store(float* p, vector x) { simd::store(p, x); }
  static NSK_INLINE void store_first(float* p, vector x, std::ptrdiff_t count) {
    simd::store_partial(p, static_cast<int>(count), x);
  }
};
struct pool_max : pool_floats {
  static NSK_INLINE vector start() { return simd::splat(-std::numeric_limits<float>::infinity()); }
  static NSK_INLINE vector combine(vector sum, vector x) { return simd::max(x, sum); }
  static NSK_INLINE vector finish(vector sum, float) { return sum; }
};
struct pool_average : pool_floats {
  static NSK_INLINE vector start() { return simd::splat(0); }
  static NSK_INLINE vector combine(vector sum, vector x) { return simd::add(sum, x); }
  static NSK_INLINE vector finish(vector sum, float divisor) { return simd::div(sum, simd::splat(divisor)); }
};
struct pool_max_bytes {
  using element = std::uint8_t;
  using vector = simd::bytes;
  static NSK_INLINE vector start() { return simd::splat_bytes(0); }
  static NSK_INLINE vector combine(vector sum, vector x) { return simd::max(x, sum); }
  static NSK_INLINE vector finish(vector sum, float) { return sum; }
  static NSK_INLINE vector load(const std::uint8_t* p) { return simd::load_bytes(p); }
  static NSK_INLINE void store(std::uint8_t* p, vector x) { simd::store_bytes(p, x); }
  static NSK_INLINE void store_first(std::uint8_t* p, vector x, std::ptrdiff_t count) {
    simd::store_first_bytes(p, x, count);
  }
};

/// `Vectors` vectors of channels of one pixel. Rows and Columns: the window where it is known when compiling, else 0.
template <class Kind, int Vectors, int Rows, int Columns>
NSK_INLINE void pool_vectors(const pool_taps<typename Kind::element>& t, std::ptrdiff_t channel,
                             typename Kind::vector (&sum)[Vectors]) {
  constexpr int lanes = Kind::vector::lanes;
  simd::unroll<Vectors>([&](auto v) { sum[v] = Kind::start(); });
  const auto* p = t.from + channel;
  if constexpr (Rows > 0) {
    simd::unroll<Rows * Columns>([&](auto i) {
      constexpr int y = i / Columns, x = i % Columns;
      simd::unroll<Vectors>(
          [&](auto v) { sum[v] = Kind::combine(sum[v], Kind::load(p + y * t.row + x * t.column + v * lanes)); });
    });
  } else {
    for (std::int32_t y = 0; y < t.rows; ++y)
      for (std::int32_t x = 0; x < t.columns; ++x)
        simd::unroll<Vectors>(
            [&](auto v) { sum[v] = Kind::combine(sum[v], Kind::load(p + y * t.row + x * t.column + v * lanes)); });
  }
  simd::unroll<Vectors>([&](auto v) { sum[v] = Kind::finish(sum[v], t.divisor); });
}

/// Channels [begin, end) of one pixel. Inputs are read up to a vector past `end`: see over_read.
template <class Kind, int Rows, int Columns>
NSK_INLINE void pool_pixel(const pool_taps<typename Kind::element>& t, typename Kind::element* to, std::ptrdiff_t begin,
                           std::ptrdiff_t end) {
  constexpr int maximum = Rows > 0 ? 2 : 8, lanes = Kind::vector::lanes;
  std::ptrdiff_t c = begin;
  for (; c + maximum * lanes <= end; c += maximum * lanes) {
    typename Kind::vector sum[maximum];
    pool_vectors<Kind, maximum, Rows, Columns>(t, c, sum);
    simd::unroll<maximum>([&](auto v) { Kind::store(to + c + v * lanes, sum[v]); });
  }
  for (; c < end; c += lanes) {
    typename Kind::vector sum[1];
    pool_vectors<Kind, 1, Rows, Columns>(t, c, sum);
    if (c + lanes <= end)
      Kind::store(to + c, sum[0]);
    else
      Kind::store_first(to + c, sum[0], end - c);
  }
}

/// Taps of one axis that fall on pixels of the input, for one output position.
struct pool_range {
  std::int32_t first, count;  ///< first input position, number of taps
  std::int32_t padded;        ///< number of taps inside the padded input
};
inline pool_range pool_axis(std::int32_t position, std::int32_t kernel, std::int32_t stride, std::int32_t dilation,
                            std::int32_t pad, std::int32_t length, std::int32_t pad_end) {
  const std::int32_t start = position * stride - pad;
  pool_range r{start, 0, 0};
  for (std::int32_t k = 0; k < kernel; ++k) {
    const std::int32_t at = start + k * dilation;
    if (at < length + pad_end) ++r.padded;
    if (at < 0 || at >= length) continue;
    if (r.count == 0) r.first = at;
    ++r.count;
  }
  return r;
}

/// A row of output pixels.
template <class Element>
struct pool_row {
  const pool_2d_args* a;
  const Element* from;  ///< input image
  Element* to;
  pool_range y;
  std::int32_t pixel_begin, pixel_end, channel_begin, channel_end;
};

/// Taps of the output pixel `x` of a row.
template <class Element>
inline pool_taps<Element> taps_of(const pool_row<Element>& r, std::int32_t x) {
  const pool_2d_args& a = *r.a;
  const pool_range h =
      pool_axis(x, a.w.kernel_w, a.w.stride_w, a.w.dilation_w, a.w.pad_left, a.input.shape[2], a.pad_right);
  pool_taps<Element> t{r.from + r.y.first * a.input.stride[1] + h.first * a.input.stride[2],
                       a.input.stride[1] * a.w.dilation_h,
                       a.input.stride[2] * a.w.dilation_w,
                       r.y.count,
                       h.count,
                       0};
  const std::int32_t taps = a.count_include_pad ? r.y.padded * h.padded : t.rows * t.columns;
  t.divisor = static_cast<float>(taps > 0 ? taps : 1);
  return t;
}

/// Pixels [begin, end) of a row, all taps inside: the window moves by a constant.
template <class Kind, int Rows, int Columns>
inline void pool_inside(const pool_row<typename Kind::element>& r, std::int32_t begin, std::int32_t end) {
  if (begin >= end) return;
  pool_taps<typename Kind::element> t = taps_of(r, begin);
  const std::ptrdiff_t stride = r.a->w.stride_w * r.a->input.stride[2], out = r.a->output.stride[2];
  for (std::int32_t x = begin; x < end; ++x, t.from += stride)
    pool_pixel<Kind, Rows, Columns>(t, r.to + x * out, r.channel_begin, r.channel_end);
}

/// Pixels [begin, end) of a row, whatever taps they have.
template <class Kind>
NSK_ONE_COPY inline void pool_edge(const pool_row<typename Kind::element>& r, std::int32_t begin, std::int32_t end) {
  for (std::int32_t x = begin; x < end; ++x)
    pool_pixel<Kind, 0, 0>(taps_of(r, x), r.to + x * r.a->output.stride[2], r.channel_begin, r.channel_end);
}

template <class Kind>
inline void pool_pixels(const pool_row<typename Kind::element>& r) {
  const pool_2d_args& a = *r.a;
  const std::int32_t reach = (a.w.kernel_w - 1) * a.w.dilation_w, width = a.input.shape[2], stride = a.w.stride_w;
  std::int32_t inner = (a.w.pad_left + stride - 1) / stride;  // first whole window
  std::int32_t outer =
      width + a.w.pad_left <= reach ? inner : (width - 1 - reach + a.w.pad_left) / stride + 1;  // past the last one
  inner = inner < r.pixel_begin ? r.pixel_begin : inner > r.pixel_end ? r.pixel_end : inner;
  outer = outer > r.pixel_end ? r.pixel_end : outer < inner ? inner : outer;
  pool_edge<Kind>(r, r.pixel_begin, inner);
  if (r.y.count == 2 && a.w.kernel_w == 2)
    pool_inside<Kind, 2, 2>(r, inner, outer);
  else if (r.y.count == 3 && a.w.kernel_w == 3)
    pool_inside<Kind, 3, 3>(r, inner, outer);
  else
    pool_edge<Kind>(r, inner, outer);
  pool_edge<Kind>(r, outer, r.pixel_end);
}

/// Pools one tile of a Kind.
template <class Kind>
inline void pool_rows(const pool_2d_args& a, const tile_range& t) {
  using element = typename Kind::element;
  const std::int32_t height = a.output.shape[1];
  for (std::int32_t row = t.row_begin; row < t.row_end; ++row) {
    const std::int32_t image = row / height;
    pool_pixels<Kind>({&a, a.input.as<element>() + image * a.input.stride[0],
                       a.output.as<element>() + row_offset(a.output, row),
                       pool_axis(row % height, a.w.kernel_h, a.w.stride_h, a.w.dilation_h, a.w.pad_top,
                                 a.input.shape[1], a.pad_bottom),
                       t.pixel_begin, t.pixel_end, t.channel_begin, t.channel_end});
  }
}

}

/// Pools one tile: the maximum (a > b ? a : b, first tap first), or the sum in row-major order divided by the number of
/// taps. A window without any tap gives -infinity or 0. Does nothing for kinds that are not in `Kinds`.
template <class Kinds = all_pool_kinds>
inline void pool_2d(const pool_2d_args& a, const tile_range& t, std::byte*) {
  if constexpr (Kinds::has(pool_kind::max))
    if (a.kind == pool_kind::max) impl::pool_rows<impl::pool_max>(a, t);
  if constexpr (Kinds::has(pool_kind::average))
    if (a.kind == pool_kind::average) impl::pool_rows<impl::pool_average>(a, t);
  fill_border(a.output, t);
}

/// The maximum of uint8, without a border. Each window has a tap.
template <class = void>
inline void max_pool_bytes(const pool_2d_args& a, const tile_range& t) {
  impl::pool_rows<impl::pool_max_bytes>(a, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
