// SPDX-License-Identifier: MIT
#pragma once
/// What happens to results between the accumulators and memory: residual, function, store.
///
/// Kernels hand over registers. Identity, clip, hard_swish and the two relus with a slope stay there, with or without
/// residual; everything else goes through a small block on the stack and one compact loop per function, so that no
/// kernel carries their code.
#include <cstddef>
#include <cstdint>
#include <netsuke/core/op.hpp>
#include <netsuke/math/functions.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
/// One row of a register tile: its first input element (not used here), and where channel 0 of output and residual lie
/// (residual is not read without one).
struct tile_row {
  const float* input;
  float* output;
  const float* residual;
};

/// An epilogue as inner loops want it.
struct tile_epilogue {
  enum class place : std::uint8_t { store, clip, hard_swish, slope, block };
  const epilogue* e;
  std::ptrdiff_t residual_step;  ///< elements between channels of the residual
  place where;                   ///< what is done in registers, or `block`
};
inline tile_epilogue prepare(const epilogue& e, int rank) {
  using place = tile_epilogue::place;
  const std::ptrdiff_t step = rank > 0 ? e.residual_stride[rank - 1] : 1;
  place where = place::block;
  if (e.fn == function::identity) where = place::store;
  if (e.fn == function::clip) where = place::clip;
  if (e.fn == function::hard_swish) where = place::hard_swish;
  if (e.fn == function::leaky_relu || e.fn == function::prelu) where = place::slope;
  return {&e, step, e.residual == nullptr || step == 1 ? where : place::block};
}

namespace impl {

/// Calls f(c, n) for the registers of a line: their first column, and how many of their columns exist.
template <class F>
NSK_INLINE void for_registers(int columns, F&& f) {
  constexpr int lanes = simd::f32::lanes;
  int c = 0;
  for (; c + lanes <= columns; c += lanes) f(c, lanes);
  if (c < columns) f(c, columns - c);
}

/// Adds a line of `columns` residuals to a line of a block.
inline void add_residual(float* line, const float* residual, std::ptrdiff_t step, int columns) {
  if (step == 1)
    for_registers(columns, [&](int c, int n) NSK_INLINE_LAMBDA {
      const simd::f32 r = n == simd::f32::lanes ? simd::load(residual + c) : simd::load_partial(residual + c, n);
      simd::store(line + c, simd::add(simd::load(line + c), r));
    });
  else
    for (int c = 0; c < columns; ++c) line[c] += residual[c * step];
}

/// prelu over one line of `count` channels, whole registers: x < 0 ? slope * x : x. Reads `count` slopes.
NSK_INLINE void apply_slope(const float* slope, float* p, int count) {
  using simd::f32;
  for (int i = 0; i < count; i += f32::lanes) {
    const f32 x = simd::load(p + i);
    simd::store(p + i, simd::select(simd::less(x, simd::zero()), simd::mul(simd::load(slope + i), x), x));
  }
}

/// Applies the epilogue to `rows` lines of `width` floats (whole registers) and stores their first `columns`. Row r
/// goes to row[r].output + channel; its residual begins at row[r].residual, counted from channel 0. The block is used
/// up.
NSK_ONE_COPY inline void finish_block(float* block, int rows, int width, const tile_epilogue& t, const tile_row* row,
                                      int channel, int columns) {
  const epilogue& e = *t.e;
  const bool adds = e.residual != nullptr;
  const std::ptrdiff_t first = channel * t.residual_step;
  if (adds && !e.activation_first)
    for (int r = 0; r < rows; ++r) add_residual(block + r * width, row[r].residual + first, t.residual_step, columns);
  if (e.fn == function::prelu)
    for (int r = 0; r < rows; ++r) apply_slope(e.slope + channel, block + r * width, width);
  else if (e.fn != function::identity)
    math::visit(e.fn, e.alpha, e.beta, [&](auto f) {
      for (int i = 0; i < rows * width; i += simd::f32::lanes) simd::store(block + i, f(simd::load(block + i)));
    });
  if (adds && e.activation_first)
    for (int r = 0; r < rows; ++r) add_residual(block + r * width, row[r].residual + first, t.residual_step, columns);
  for (int r = 0; r < rows; ++r) {
    const float* from = block + r * width;
    float* to = row[r].output + channel;
    for_registers(columns, [&](int c, int n) NSK_INLINE_LAMBDA {
      n == simd::f32::lanes ? simd::store(to + c, simd::load(from + c))
                            : simd::store_partial(to + c, n, simd::load(from + c));
    });
  }
}

/// Replaces every register (r, v) of a tile by f of it.
template <int Rows, int Vectors, class F>
NSK_INLINE void map_tile(simd::f32 (&sum)[Rows][Vectors], F&& f) {
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { sum[r][v] = f(sum[r][v], v); });
  });
}
template <int Rows, int Vectors>
NSK_INLINE void add_residual(simd::f32 (&sum)[Rows][Vectors], const tile_row* row, int channel) {
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
      sum[r][v] = simd::add(sum[r][v], simd::load(row[r].residual + channel + v * simd::f32::lanes));
    });
  });
}

}

/// Whether a register that is partly stored costs no more than a whole one: sixteen lanes come with masks, and
/// outnumber the channels of a last panel.
inline constexpr bool stores_parts = simd::f32::lanes > 8;

/// Stores a register tile: row r goes to row[r].output + channel, whole registers.
template <int Rows, int Vectors>
NSK_INLINE void store_tile(const simd::f32 (&sum)[Rows][Vectors], const tile_row* row, int channel) {
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    simd::unroll<Vectors>(
        [&](auto v) NSK_INLINE_LAMBDA { simd::store(row[r].output + channel + v * simd::f32::lanes, sum[r][v]); });
  });
}

/// Stores the first `columns` of each row, which lack less than a register.
template <int Rows, int Vectors>
NSK_INLINE void store_tile_part(const simd::f32 (&sum)[Rows][Vectors], const tile_row* row, int channel, int columns) {
  using simd::f32;
  constexpr int whole = (Vectors - 1) * f32::lanes;
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    float* const to = row[r].output + channel;
    simd::unroll<Vectors - 1>([&](auto v) NSK_INLINE_LAMBDA { simd::store(to + v * f32::lanes, sum[r][v]); });
    simd::store_partial(to + whole, columns - whole, sum[r][Vectors - 1]);
  });
}

/// Finishes a register tile: row r, columns [0, columns) go to row[r].output + channel. Columns may be fewer than the
/// registers hold; nothing is written outside.
template <int Rows, int Vectors>
NSK_INLINE void finish_tile(const simd::f32 (&accumulators)[Rows][Vectors], const tile_epilogue& t, const tile_row* row,
                            int channel, int columns) {
  using simd::f32;
  // a copy: where a lambda below is left out of line, g++ would keep what it captures in memory, through the whole
  // product before
  f32 sum[Rows][Vectors];
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { sum[r][v] = accumulators[r][v]; });
  });
  using place = tile_epilogue::place;
  if (t.where != place::block && (stores_parts || columns == Vectors * f32::lanes)) {
    const bool adds = t.e->residual != nullptr, late = t.e->activation_first;
    const f32 alpha = simd::splat(t.e->alpha), beta = simd::splat(t.e->beta);
    if (adds && !late) impl::add_residual(sum, row, channel);
    if (t.where == place::clip) {
      impl::map_tile(sum, [&](f32 x, int) NSK_INLINE_LAMBDA { return simd::clamp(x, alpha, beta); });
    } else if (t.where == place::hard_swish) {
      impl::map_tile(sum, [&](f32 x, int) NSK_INLINE_LAMBDA { return math::hard_swish(x); });
    } else if (t.where == place::slope) {
      f32 slope[Vectors];
      simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
        slope[v] = t.e->fn == function::prelu ? simd::load(t.e->slope + channel + v * f32::lanes) : alpha;
      });
      impl::map_tile(sum, [&](f32 x, int v) NSK_INLINE_LAMBDA { return math::leaky_relu(x, slope[v]); });
    }
    if (adds && late) impl::add_residual(sum, row, channel);
    if constexpr (stores_parts)
      store_tile_part(sum, row, channel, columns);
    else
      store_tile(sum, row, channel);
    return;
  }
  alignas(64) float block[Rows * Vectors * f32::lanes];
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    simd::unroll<Vectors>([&](auto v)
                              NSK_INLINE_LAMBDA { simd::store(block + (r * Vectors + v) * f32::lanes, sum[r][v]); });
  });
  impl::finish_block(block, Rows, Vectors * f32::lanes, t, row, channel, columns);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
