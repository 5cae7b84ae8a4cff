// SPDX-License-Identifier: MIT
#pragma once
/// All rows of one panel, under any epilogue.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/product/gemm_tile.hpp>
#include <netsuke/kernels/product/widened_panels.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Tiles that are stored before their function is computed where they are: the nearest cache still holds them, and they
/// are few enough that a core multiplies the next ones while it divides.
inline constexpr int tiles_per_function = 4;

/// All rows under a function that is not computed in registers: stored as sums, a few tiles at a time, and mapped in
/// place.
template <int MaxPanels, class Kernels, class Weight>
NSK_ONE_COPY inline void gemm_panel_in_place(int count, const gemm_runs& runs, const gemm_panel<Weight>& p,
                                             const tile_row* row, const tile_epilogue<Kernels>& e) {
  const int maximum = tile_heights::of(p.columns, p.panels).maximum;
  for (int tiles = (count + maximum - 1) / maximum; tiles > 0; tiles -= tiles_per_function) {
    const int some = tiles > tiles_per_function ? (count * tiles_per_function + tiles - 1) / tiles : count;
    gemm_panel_tiles<MaxPanels>(some, runs, p, row, e.registers);
    map_rows<Kernels>(*e.e, row, some, p.channel, p.columns);
    row += some;
    count -= some;
  }
}

/// All rows of one panel, or of several, at most MaxPanels.
template <int MaxPanels, class Kernels, class Weight>
NSK_ONE_COPY inline void gemm_panel_rows(int count, const gemm_runs& runs, const gemm_panel<Weight>& p,
                                         const tile_row* row, const tile_epilogue<Kernels>& e) {
  using simd::f32;
  const int width = p.panels > 1 ? p.panels * panel_width : p.columns > 16 ? 24 : p.columns > 8 ? 16 : 8;
  if ((simd::tuning::stores_parts || p.columns == width) && may_hold_sums(runs, p, row) &&
      tile_heights::of(p.columns, p.panels).cover(count) == count) {
    if (e.in_registers) return gemm_panel_tiles<MaxPanels>(count, runs, p, row, e.registers);
    if (e.maps()) return gemm_panel_in_place<MaxPanels>(count, runs, p, row, e);
  }
  alignas(64) float block[block_rows * block_columns];
  tile_row line[max_block_rows];
  const int columns = (width + f32::lanes - 1) / f32::lanes * f32::lanes;
  const tile_heights heights = tile_heights::of(columns, p.panels);
  gemm_panel<Weight> all = p;
  all.channel = 0;
  all.columns = columns;
  const int fit = block_rows * block_columns / columns, rows = fit < max_block_rows ? fit : max_block_rows;
  for (int parts = (count + rows - 1) / rows; parts > 0; --parts) {
    const int some = (count + parts - 1) / parts, padded = heights.cover(some);
    for (int i = 0; i < padded; ++i) line[i] = {row[i < some ? i : some - 1].input, block + i * columns, nullptr};
    if constexpr (f32::lanes > 8) {  // tiles store 8 columns there, finish_block reads 16
      if (columns > width)
        for (int i = 0; i < padded; ++i) simd::store(line[i].output + columns - f32::lanes, simd::zero());
    }
    gemm_panel_tiles<MaxPanels>(padded, runs, all, line, register_epilogue<Kernels>{});
    finish_block(block, some, columns, e, row, p.channel, p.columns);
    row += some;
    count -= some;
  }
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
