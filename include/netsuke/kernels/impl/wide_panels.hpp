// SPDX-License-Identifier: MIT
#pragma once
/// Tiles of a panel of float16: the first one leaves the weights as floats for those below it, which would widen them
/// again on the ports of their multiply-adds. Deep panels are taken a block of k at a time, and sums wait in the
/// outputs between blocks, so each output stays one chain.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/impl/gemm_tile.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {
using simd::wide_float;

/// Maximum number of widened weights: they are on the stack, and stay in the first-level cache.
inline constexpr int wide_block_weights = 4096;
/// Widened weights, and space for the register that ends behind them.
struct wide_block {
  alignas(64) wide_float data[wide_block_weights + panel_width];
};

/// Some of the k of a row: as runs, from `offset` floats behind its beginning on.
struct part_of_runs {
  gemm_runs runs;
  std::ptrdiff_t offset;
  int steps;
};
/// The longest part from step `first` on that has at most `maximum` steps: whole lines, else whole columns, else part
/// of one run.
inline part_of_runs take_runs(const gemm_runs& all, int first, int maximum) {
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const bool whole_run = all.length <= maximum;
  const int line = whole_run && all.columns <= maximum / all.length ? all.columns * all.length : 0;
  const int run = first / all.length, k = first % all.length, y = run / all.columns, x = run % all.columns;
  part_of_runs part{all, y * all.line_step + x * all.column_step + k, 0};
  part.runs.lines = line > 0 && x == 0 && k == 0 ? smaller(all.lines - y, maximum / line) : 1;
  if (line == 0 || x > 0 || k > 0) {
    part.runs.columns = whole_run && k == 0 ? smaller(all.columns - x, maximum / all.length) : 1;
    part.runs.length = smaller(all.length - k, maximum);
  }
  part.steps = part.runs.lines * part.runs.columns * part.runs.length;
  return part;
}

/// Whether all k of a panel, or of tile_panels, are widened at once: then results need not be in memory before their
/// epilogue.
template <class Weight>
NSK_INLINE bool is_widened_at_once(const gemm_runs& runs, const gemm_panel<Weight>& p) {
  if constexpr (std::is_same<Weight, half_bits>::value)
    return std::int64_t{runs.lines} * runs.columns * runs.length * p.step * p.panels <= wide_block_weights;
  return true;
}

/// Some k of all rows, as gemm_equal_tiles takes them.
template <class Functions>
NSK_ONE_COPY inline void gemm_wide_tiles(int count, const gemm_runs& runs, gemm_panel<half_bits> p, const tile_row* row,
                                         const register_epilogue<Functions>& e) {
  wide_block block;
  const int maximum = tile_heights::of(p.columns, p.panels).maximum, tiles = (count + maximum - 1) / maximum,
            first = (count + tiles - 1) / tiles;
  p.wide = block.data;
  if (tiles <= 2) return gemm_equal_tiles(count, runs, p, row, e);
  gemm_equal_tiles(first, runs, p, row, e);
  const gemm_panel<wide_float> wide{{p.offset}, p.bias, block.data,  p.panels * p.step, p.channel, p.columns,
                                    p.panels,   p.step, p.bias_step, nullptr,           0};
  gemm_equal_tiles(count - first, runs, wide, row + first, e);
}

/// All tiles of a panel, or of tile_panels; all rows are tiles (tile_heights), at most block_rows where not all is
/// widened at once.
template <class Functions, class Weight>
NSK_INLINE void gemm_panel_tiles(int count, const gemm_runs& runs, const gemm_panel<Weight>& p, const tile_row* row,
                                 const register_epilogue<Functions>& e) {
  gemm_equal_tiles(count, runs, p, row, e);
}
template <class Functions>
NSK_ONE_COPY inline void gemm_panel_tiles(int count, const gemm_runs& runs, const gemm_panel<half_bits>& p,
                                          const tile_row* row, const register_epilogue<Functions>& e) {
  if (is_widened_at_once(runs, p)) return gemm_wide_tiles(count, runs, p, row, e);
  const int depth = runs.lines * runs.columns * runs.length, maximum = wide_block_weights / (p.panels * p.step);
  gemm_panel<half_bits> some = p;
  for (int k = 0; k < depth;) {
    const part_of_runs part = take_runs(runs, k, maximum);
    some.offset = part.offset;
    gemm_wide_tiles(count, part.runs, some, row, e);
    const std::ptrdiff_t taken = std::ptrdiff_t{part.steps} * some.step;
    some.weights += taken;
    if (some.ahead != nullptr) some.ahead += taken * static_cast<std::ptrdiff_t>(sizeof(half_bits));
    some.bias = nullptr;
    k += part.steps;
  }
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
