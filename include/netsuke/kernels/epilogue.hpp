// SPDX-License-Identifier: MIT
#pragma once
/// What happens to results between the accumulators and memory: residual, function, store.
///
/// Kernels hand over registers. Identity and clip, with or without residual, stay there; everything else goes through a small
/// block on the stack and one compact loop per function, so that no kernel carries the functions' code.
#include <cstddef>
#include <cstdint>
#include <netsuke/core/op.hpp>
#include <netsuke/math/functions.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
/// Replaces `count` floats by e.fn of them, in place; count is a multiple of 8. prelu is not one of them (see apply_slope).
/// Residual and slope are not looked at.
NSK_NOINLINE inline void apply_function(const epilogue& e, float* p, int count) {
  if (e.fn == function::identity || e.fn == function::prelu) return;
  math::visit(e.fn, e.alpha, e.beta, [&](auto f) {
    for (int i = 0; i < count; i += simd::f32::lanes) simd::store(p + i, f(simd::load(p + i)));
  });
}

/// prelu over one line of `count` channels, a multiple of 8: x < 0 ? slope * x : x. Reads `count` slopes.
NSK_INLINE void apply_slope(const float* slope, float* p, int count) {
  using simd::f32;
  for (int i = 0; i < count; i += f32::lanes) {
    const f32 x = simd::load(p + i);
    simd::store(p + i, simd::select(simd::less(x, simd::zero()), simd::mul(simd::load(slope + i), x), x));
  }
}

/// One row of a register tile: its first input element (not used here), and where channel 0 of output and residual lie (residual
/// is not read without one).
struct tile_row {
  const float* input;
  float* output;
  const float* residual;
};

/// An epilogue as inner loops want it.
struct tile_epilogue {
  const epilogue* e;
  std::ptrdiff_t residual_step;  ///< elements between channels of the residual
  bool in_registers, clips;
};
inline tile_epilogue prepare(const epilogue& e, int rank) {
  const std::ptrdiff_t step = rank > 0 ? e.residual_stride[rank - 1] : 1;
  const bool plain = e.fn == function::identity || e.fn == function::clip;
  return {&e, step, plain && (e.residual == nullptr || step == 1), e.fn == function::clip};
}

namespace impl {

/// Adds a line of `columns` residuals to a line of a block.
NSK_INLINE void add_residual(float* line, const float* residual, std::ptrdiff_t step, int columns) {
  for (int c = 0; c < columns; ++c) line[c] += residual[c * step];
}

/// Applies the epilogue to `rows` lines of `width` floats (a multiple of 8) and stores their first `columns`. Row r goes to
/// row[r].output + channel; its residual begins at row[r].residual, counted from channel 0. The block is used up.
NSK_NOINLINE inline void finish_block(float* block, int rows, int width, const tile_epilogue& t, const tile_row* row, int channel,
                                      int columns) {
  const epilogue& e = *t.e;
  const bool adds = e.residual != nullptr;
  const std::ptrdiff_t first = channel * t.residual_step;
  if (adds && !e.activation_first)
    for (int r = 0; r < rows; ++r) add_residual(block + r * width, row[r].residual + first, t.residual_step, columns);
  if (e.fn == function::prelu)
    for (int r = 0; r < rows; ++r) apply_slope(e.slope + channel, block + r * width, width);
  else
    apply_function(e, block, rows * width);
  if (adds && e.activation_first)
    for (int r = 0; r < rows; ++r) add_residual(block + r * width, row[r].residual + first, t.residual_step, columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) row[r].output[channel + c] = block[r * width + c];
}

}

/// Finishes a register tile: row r, columns [0, columns) go to row[r].output + channel. Columns may be fewer than the registers hold;
/// nothing is written outside.
template <int Rows, int Vectors>
NSK_INLINE void finish_tile(simd::f32 (&sum)[Rows][Vectors], const tile_epilogue& t, const tile_row* row, int channel, int columns) {
  using simd::f32;
  if (t.in_registers && columns == Vectors * f32::lanes) {
    const bool adds = t.e->residual != nullptr, late = t.e->activation_first;
    const f32 low = simd::splat(t.e->alpha), high = simd::splat(t.e->beta);
    simd::unroll<Rows>([&](auto r) {
      if (adds && !late)
        simd::unroll<Vectors>(
            [&](auto v) { sum[r][v] = simd::add(sum[r][v], simd::load(row[r].residual + channel + v * f32::lanes)); });
      if (t.clips) simd::unroll<Vectors>([&](auto v) { sum[r][v] = simd::clamp(sum[r][v], low, high); });
      if (adds && late)
        simd::unroll<Vectors>(
            [&](auto v) { sum[r][v] = simd::add(sum[r][v], simd::load(row[r].residual + channel + v * f32::lanes)); });
      simd::unroll<Vectors>([&](auto v) { simd::store(row[r].output + channel + v * f32::lanes, sum[r][v]); });
    });
    return;
  }
  alignas(64) float block[Rows * Vectors * f32::lanes];
  simd::unroll<Rows>([&](auto r) {
    simd::unroll<Vectors>([&](auto v) { simd::store(block + (r * Vectors + v) * f32::lanes, sum[r][v]); });
  });
  impl::finish_block(block, Rows, Vectors * f32::lanes, t, row, channel, columns);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
