// SPDX-License-Identifier: MIT
#pragma once
/// Separable resampling: rows of a window are resampled across once, kept in lane scratch, and blended down.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/format/scratch.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Separable resampling of [N, H, W, C]; tables as in schema/netsuke.fbs. Row order of operations: for each row tap the
/// weighted sum of column taps in ascending order (first tap a product, the others fused), then rows likewise.
struct resize_2d_args : resize_2d_params {
  tensor_view input, output;
  const std::int32_t* row_index;
  const float* row_weight;
  const std::int32_t* column_index;
  const float* column_weight;
};

namespace impl {

/// A piece of output columns and channels; its rows are computed one after the other.
struct resize_part {
  const resize_2d_args* a;
  std::int32_t pixel_begin, pixel_end, channel_begin, channels;
};

/// A row or column of the input that a table names. Tables are made for the bounds of lengths: one that is behind the
/// input of a shorter run is the last, as it is at the bounds.
NSK_INLINE std::int32_t inside(std::int32_t index, std::int32_t count) { return index < count ? index : count - 1; }

/// Blends the column taps of every pixel of a row of input into `to`, dense. Whole vectors are stored: up to 15 floats
/// past the end.
template <int Taps>
inline void resize_across(const resize_part& p, const float* row, float* to) {
  using simd::f32;
  const std::ptrdiff_t stride = p.a->input.stride[2];
  const std::int32_t columns = p.a->input.shape[2];
  for (std::int32_t x = p.pixel_begin; x < p.pixel_end; ++x, to += p.channels) {
    const std::int32_t* index = p.a->column_index + std::ptrdiff_t{x} * Taps;
    f32 weight[Taps];
    const float* from[Taps];
    simd::unroll<Taps>([&](auto k) NSK_INLINE_LAMBDA {
      weight[k] = simd::broadcast(p.a->column_weight + std::ptrdiff_t{x} * Taps + k);
      from[k] = row + inside(index[k], columns) * stride;
    });
    for (std::int32_t c = 0; c < p.channels; c += f32::lanes) {
      f32 sum = simd::mul(weight[0], simd::load(from[0] + c));
      simd::unroll<Taps - 1>(
          [&](auto k) NSK_INLINE_LAMBDA { sum = simd::fma(weight[k + 1], simd::load(from[k + 1] + c), sum); });
      simd::store(to + c, sum);
    }
  }
}
/// resize_across() for any number of taps.
inline void resize_across_many(const resize_part& p, const float* row, float* to) {
  using simd::f32;
  const std::int32_t taps = p.a->column_taps;
  const std::ptrdiff_t stride = p.a->input.stride[2];
  const std::int32_t columns = p.a->input.shape[2];
  for (std::int32_t x = p.pixel_begin; x < p.pixel_end; ++x, to += p.channels) {
    const std::int32_t* index = p.a->column_index + std::ptrdiff_t{x} * taps;
    const float* weight = p.a->column_weight + std::ptrdiff_t{x} * taps;
    const auto from = [&](std::int32_t k) NSK_INLINE_LAMBDA { return row + inside(index[k], columns) * stride; };
    for (std::int32_t c = 0; c < p.channels; c += f32::lanes) {
      f32 sum = simd::mul(simd::broadcast(weight), simd::load(from(0) + c));
      for (std::int32_t k = 1; k < taps; ++k)
        sum = simd::fma(simd::broadcast(weight + k), simd::load(from(k) + c), sum);
      simd::store(to + c, sum);
    }
  }
}
inline void resize_across(const resize_part& p, const float* row, float* to) {
  switch (p.a->column_taps) {
    case 1: return resize_across<1>(p, row, to);
    case 2: return resize_across<2>(p, row, to);
    case 4: return resize_across<4>(p, row, to);
    default: return resize_across_many(p, row, to);
  }
}

/// Writes count floats of f(first float), whole vectors where they fit.
template <class F>
NSK_INLINE void resize_line(float* to, std::ptrdiff_t count, F f) {
  using simd::f32;
  std::ptrdiff_t i = 0;
  for (; i + f32::lanes <= count; i += f32::lanes) simd::store(to + i, f(i));
  if (i < count) simd::store_partial(to + i, static_cast<int>(count - i), f(i));
}

/// Blends rows: row k begins at rows + slot[k] * pitch. Writes `count` floats.
template <int Taps>
inline void resize_down(const float* rows, std::ptrdiff_t pitch, const std::int32_t* slot, const float* weights,
                        float* to, std::ptrdiff_t count) {
  using simd::f32;
  f32 weight[Taps];
  const float* from[Taps];
  simd::unroll<Taps>([&](auto k) NSK_INLINE_LAMBDA {
    weight[k] = simd::broadcast(weights + k);
    from[k] = rows + slot[k] * pitch;
  });
  resize_line(to, count, [&](std::ptrdiff_t i) NSK_INLINE_LAMBDA {
    f32 sum = simd::mul(weight[0], simd::load(from[0] + i));
    simd::unroll<Taps - 1>([&](auto k)
                               NSK_INLINE_LAMBDA { sum = simd::fma(weight[k + 1], simd::load(from[k + 1] + i), sum); });
    return sum;
  });
}
inline void resize_down_many(const float* rows, std::ptrdiff_t pitch, const std::int32_t* slot, const float* weight,
                             std::int32_t taps, float* to, std::ptrdiff_t count) {
  using simd::f32;
  resize_line(to, count, [&](std::ptrdiff_t i) NSK_INLINE_LAMBDA {
    f32 sum = simd::mul(simd::broadcast(weight), simd::load(rows + slot[0] * pitch + i));
    for (std::int32_t k = 1; k < taps; ++k)
      sum = simd::fma(simd::broadcast(weight + k), simd::load(rows + slot[k] * pitch + i), sum);
    return sum;
  });
}

/// Horizontally resampled rows of one piece in lane scratch, found again by their number.
class resize_cache {
 public:
  resize_cache(const resize_part& p, std::byte* scratch)
      : m_part(p),
        m_taps(p.a->row_taps),
        m_pitch(resize_piece(p.a->row_taps) + 16),
        m_rows(reinterpret_cast<float*>(scratch)),
        m_row(reinterpret_cast<std::int32_t*>(m_rows + m_taps * m_pitch)),
        m_slot(m_row + m_taps) {}

  std::ptrdiff_t pitch() const { return m_pitch; }
  const float* rows() const { return m_rows; }
  /// Where the rows of the window are: row k at rows() + slots()[k] * pitch().
  const std::int32_t* slots() const { return m_slot; }

  /// Brings in the rows `index` of the image at `from`. Rows of this window stay, others are replaced.
  void bring(const float* from, const std::int32_t* index) {
    if (from != m_image) m_used = 0;
    m_image = from;
    for (std::int32_t k = 0; k < m_taps; ++k) {
      const std::int32_t row = row_of(index[k]);
      std::int32_t s = find(row);
      if (s == m_used) {
        s = m_used < m_taps ? m_used++ : unwanted(index);
        m_row[s] = row;
        resize_across(m_part, from + row * m_part.a->input.stride[1], m_rows + s * m_pitch);
      }
      m_slot[k] = s;
    }
  }

 private:
  std::int32_t row_of(std::int32_t index) const { return inside(index, m_part.a->input.shape[1]); }
  std::int32_t find(std::int32_t row) const {
    std::int32_t s = 0;
    while (s < m_used && m_row[s] != row) ++s;
    return s;
  }
  std::int32_t unwanted(const std::int32_t* index) const {
    for (std::int32_t s = 0; s < m_used; ++s) {
      bool wanted = false;
      for (std::int32_t k = 0; k < m_taps; ++k) wanted = wanted || row_of(index[k]) == m_row[s];
      if (!wanted) return s;
    }
    return 0;
  }

  const resize_part& m_part;
  std::int32_t m_taps;
  std::ptrdiff_t m_pitch;
  float* m_rows;
  std::int32_t *m_row, *m_slot;  ///< input row in each slot; slot of each row of the window
  const float* m_image = nullptr;
  std::int32_t m_used = 0;
};

inline void blend_rows(const resize_part& p, const resize_cache& cache, const float* weight, float* to) {
  const std::ptrdiff_t stride = p.a->output.stride[2];
  const std::int32_t pixels = p.pixel_end - p.pixel_begin, taps = p.a->row_taps;
  const std::int32_t* slot = cache.slots();
  const auto down = [&](const float* rows, float* out, std::ptrdiff_t count) NSK_INLINE_LAMBDA {
    if (taps == 1) return resize_down<1>(rows, cache.pitch(), slot, weight, out, count);
    if (taps == 2) return resize_down<2>(rows, cache.pitch(), slot, weight, out, count);
    resize_down_many(rows, cache.pitch(), slot, weight, taps, out, count);
  };
  if (stride == p.channels) return down(cache.rows(), to, std::ptrdiff_t{pixels} * p.channels);
  for (std::int32_t x = 0; x < pixels; ++x)
    down(cache.rows() + std::ptrdiff_t{x} * p.channels, to + x * stride, p.channels);
}

inline void resize_piece_rows(const resize_part& p, const tile_range& t, std::byte* scratch) {
  const resize_2d_args& a = *p.a;
  const std::int32_t height = a.output.shape[1];
  resize_cache cache(p, scratch);
  for (std::int32_t row = t.row_begin; row < t.row_end; ++row) {
    const std::int32_t image = row / height, y = row % height;
    const std::ptrdiff_t table = std::ptrdiff_t{y} * a.row_taps;
    cache.bring(a.input.as<float>() + image * a.input.stride[0] + p.channel_begin, a.row_index + table);
    float* to = a.output.as<float>() + row_offset(a.output, row) + p.pixel_begin * a.output.stride[2] + p.channel_begin;
    blend_rows(p, cache, a.row_weight + table, to);
  }
}

/// One tap each way and many channels: no scratch, each pixel of a row of output is two products of a pixel of input.
inline void resize_nearest_row(const resize_2d_args& a, const tile_range& t, const float* from, float* to,
                               float row_weight) {
  using simd::f32;
  const f32 down = simd::splat(row_weight);
  for (std::int32_t x = t.pixel_begin; x < t.pixel_end; ++x) {
    const float* pixel = from + inside(a.column_index[x], a.input.shape[2]) * a.input.stride[2];
    const f32 across = simd::broadcast(a.column_weight + x);
    resize_line(to + x * a.output.stride[2], t.channel_end - t.channel_begin, [&](std::ptrdiff_t c) NSK_INLINE_LAMBDA {
      return simd::mul(down, simd::mul(across, simd::load(pixel + c)));
    });
  }
}
inline void resize_nearest(const resize_2d_args& a, const tile_range& t) {
  const std::int32_t height = a.output.shape[1];
  for (std::int32_t row = t.row_begin; row < t.row_end; ++row) {
    const float* image = a.input.as<float>() + row / height * a.input.stride[0] + t.channel_begin;
    resize_nearest_row(a, t, image + inside(a.row_index[row % height], a.input.shape[1]) * a.input.stride[1],
                       a.output.as<float>() + row_offset(a.output, row) + t.channel_begin, a.row_weight[row % height]);
  }
}

/// Any number of taps: pieces of rows, as wide as scratch allows.
inline void resize_pieces(const resize_2d_args& a, const tile_range& t, std::byte* scratch) {
  const std::int32_t piece = resize_piece(a.row_taps);
  for (std::int32_t c = t.channel_begin; c < t.channel_end; c += piece) {
    const std::int32_t channels = piece < t.channel_end - c ? piece : t.channel_end - c, pixels = piece / channels;
    for (std::int32_t x = t.pixel_begin; x < t.pixel_end; x += pixels) {
      const resize_part p{&a, x, x + pixels < t.pixel_end ? x + pixels : t.pixel_end, c, channels};
      resize_piece_rows(p, t, scratch);
    }
  }
}

}

/// Resamples one tile: each output is the sum over row taps, in order, of weight times the sum over column taps, in
/// order; the first tap of a sum is a product, the others fused multiply-adds.
inline void resize_2d(const resize_2d_args& a, const tile_range& t, std::byte* scratch) {
  if (a.row_taps == 1 && a.column_taps == 1 && t.channel_end - t.channel_begin >= 8)
    impl::resize_nearest(a, t);
  else
    impl::resize_pieces(a, t, scratch);
  fill_border(a.output, t);
}

/// Resamples one tile of bytes by one tap each, whose weight is 1: every pixel is a pixel of the input.
inline void move_pixels(const resize_2d_args& a, const tile_range& t) {
  const tensor_view &in = a.input, &out = a.output;
  const auto channels = static_cast<std::size_t>(t.channel_end - t.channel_begin);
  for (int row = t.row_begin; row < t.row_end; ++row) {
    const int image = row / out.shape[1], y = row % out.shape[1];
    const std::uint8_t* const from = in.as<std::uint8_t>() + image * in.stride[0] +
                                     impl::inside(a.row_index[y], in.shape[1]) * in.stride[1] + t.channel_begin;
    std::uint8_t* const to = out.as<std::uint8_t>() + image * out.stride[0] + y * out.stride[1] + t.channel_begin;
    for (int x = t.pixel_begin; x < t.pixel_end; ++x)
      std::memcpy(to + x * out.stride[2], from + impl::inside(a.column_index[x], in.shape[2]) * in.stride[2], channels);
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
