// SPDX-License-Identifier: MIT
#pragma once
/// Weights of float16 as floats for several tiles of rows, which would widen them again on the ports of their
/// multiply-adds: a few panels before the first tile, or by the first tile of a panel for those below it, a block of k
/// at a time where it is deep. Then sums wait in the outputs between blocks, so each output stays one chain.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstring>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/product/gemm_tile.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {
using simd::widened_float;

/// Maximum number of widened weights: they are on the stack, and stay in the first-level cache.
inline constexpr int max_widened_weights = 4096;
/// As many widened weights with their biases, and space for the register that ends behind them.
template <int Weights>
struct widened_block {
  static constexpr std::int64_t capacity = Weights + 64;
  alignas(64) widened_float data[capacity + panel_width];

  /// Whether whole panels of `depth` weights a column fit: the widest one, and a pair of them.
  static constexpr bool fits(std::int64_t depth) {
    constexpr std::int64_t columns = pair_panels * panel_width;
    return (columns > max_panel_width ? columns : max_panel_width) * (depth + 1) <= capacity;
  }
};

/// Widens panels of float16 from `panel` to before `end`, as many as fit; returns the first one that is left.
template <int Weights>
inline int widen_panels(widened_block<Weights>& to, const half_bits* weights, std::int64_t channels, std::int64_t depth,
                        int panel, int end) {
  using simd::f32;
  constexpr int per_bias = weights_per_bias<half_bits>;
  const auto steps = static_cast<std::ptrdiff_t>(depth);
  for (std::ptrdiff_t at = 0; panel < end; ++panel) {
    const auto width = static_cast<std::ptrdiff_t>(width_of_panel(channels, panel));
    const std::ptrdiff_t elements = width * steps;
    if (at + width + elements > widened_block<Weights>::capacity) break;
    const half_bits* from = weights + std::ptrdiff_t{panel} * panel_width * (steps + per_bias);
    std::memcpy(to.data + at, from, static_cast<std::size_t>(width) * sizeof(float));  // biases are floats already
    from += per_bias * width;
    widened_float* const first = to.data + at + width;
    for (std::ptrdiff_t i = 0; i < elements; i += f32::lanes)
      simd::store(&first[i].value, simd::load_weights(from + i));
    at += width + elements;
    simd::store(&to.data[at].value, simd::zero());  // a tile's last load may end there
  }
  return panel;
}

/// Some of the k of a row: as runs, from `offset` floats behind its beginning on.
struct part_of_runs {
  gemm_runs runs;
  std::ptrdiff_t offset;
  int steps;
};
/// The longest part from k `first` on that has at most `maximum` of them: whole lines, else whole columns, else part
/// of one run.
inline part_of_runs take_runs(const gemm_runs& all, int first, int maximum) {
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const bool whole_run = all.length <= maximum;
  const int line = whole_run && all.columns <= maximum / all.length ? all.columns * all.length : 0;
  const int run = first / all.length, k = first % all.length, y = run / all.columns, x = run % all.columns;
  part_of_runs part{all, y * all.line_stride + x * all.column_stride + k, 0};
  part.runs.lines = line > 0 && x == 0 && k == 0 ? smaller(all.lines - y, maximum / line) : 1;
  if (line == 0 || x > 0 || k > 0) {
    part.runs.columns = whole_run && k == 0 ? smaller(all.columns - x, maximum / all.length) : 1;
    part.runs.length = smaller(all.length - k, maximum);
  }
  part.steps = part.runs.lines * part.runs.columns * part.runs.length;
  return part;
}

/// All k of a panel, or of several.
inline int depth_of(const gemm_runs& r) { return r.lines * r.columns * r.length; }

/// Whether the tiles of these rows may store their outputs themselves: between blocks of k their sums are there, which
/// must not be the residual, nor end within a register.
template <class Weight>
NSK_INLINE bool may_hold_sums(const gemm_runs& runs, const gemm_panel<Weight>& p, const tile_row* row) {
  if constexpr (std::is_same<Weight, half_bits>::value) {
    const bool apart = p.columns % simd::f32::lanes == 0 && row->residual != row->output;
    return apart || std::int64_t{depth_of(runs)} * p.stride * p.panels <= max_widened_weights;
  }
  return true;
}

/// Some k of all rows, as gemm_equal_tiles takes them; two tiles are not worth more calls.
template <int MaxPanels, class Kernels>
NSK_ONE_COPY inline void gemm_widened_tiles(int count, const gemm_runs& runs, gemm_panel<half_bits> p,
                                            const tile_row* row, const register_epilogue<Kernels>& e) {
  widened_block<max_widened_weights> block;
  const int maximum = tile_heights::of(p.columns, p.panels).maximum, tiles = (count + maximum - 1) / maximum,
            first = (count + tiles - 1) / tiles;
  p.widened = block.data;
  if (tiles <= 2) return gemm_equal_tiles<MaxPanels>(count, runs, p, row, e);
  gemm_equal_tiles<MaxPanels>(first, runs, p, row, e);
  gemm_panel<widened_float> floats;
  floats.offset = p.offset;
  floats.bias = p.bias;
  floats.weights = block.data;
  floats.stride = p.panels * p.stride;
  floats.channel = p.channel;
  floats.columns = p.columns;
  floats.panels = p.panels;
  floats.panel_stride = p.stride;
  floats.bias_stride = p.bias_stride;
  gemm_equal_tiles<MaxPanels>(count - first, runs, floats, row + first, e);
}

/// All tiles of a panel, or of several, at most MaxPanels; all rows are tiles (tile_heights).
template <int MaxPanels, class Kernels, class Weight>
NSK_INLINE void gemm_panel_tiles(int count, const gemm_runs& runs, const gemm_panel<Weight>& p, const tile_row* row,
                                 const register_epilogue<Kernels>& e) {
  gemm_equal_tiles<MaxPanels>(count, runs, p, row, e);
}
/// All tiles of panels of float16 weights, a block of k at a time. Between blocks the outputs hold the sums: only the
/// first block begins with the bias, only the last one has the epilogue.
template <int MaxPanels, class Kernels>
NSK_ONE_COPY inline void gemm_panel_tiles(int count, const gemm_runs& runs, const gemm_panel<half_bits>& p,
                                          const tile_row* row, const register_epilogue<Kernels>& e) {
  const int depth = depth_of(runs), max_block = max_widened_weights / (p.panels * p.stride),
            blocks = (depth + max_block - 1) / max_block, equal_block = (depth + blocks - 1) / blocks;
  gemm_panel<half_bits> block = p;
  for (int k = 0; k < depth;) {
    const part_of_runs part = take_runs(runs, k, equal_block);
    k += part.steps;
    const bool is_last = k == depth;
    block.offset = part.offset;
    gemm_widened_tiles<MaxPanels>(count, part.runs, block, row, is_last ? e : register_epilogue<Kernels>{});
    const std::ptrdiff_t taken = std::ptrdiff_t{part.steps} * block.stride;
    block.weights += taken;
    if (block.prefetch_at != nullptr) block.prefetch_at += taken * static_cast<std::ptrdiff_t>(sizeof(half_bits));
    block.bias = nullptr;
  }
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
