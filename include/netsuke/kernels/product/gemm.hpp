// SPDX-License-Identifier: MIT
#pragma once
/// Rows times packed weights: the driver that convolution, fully connected layers and matrix products share.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/product/gemm_panel.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// A packed matrix: `channels` columns in panels of depth `depth` from `data` on (format/packing.hpp); column 0 is
/// channel `first_channel` of the output.
template <class Weight>
struct gemm_weights {
  const Weight* data;
  std::int64_t channels, depth;
  int first_channel;
};

namespace impl {

/// The part of panel `index` that is in output channels [begin, end); columns is 0 or less where there is none.
template <class Weight>
inline gemm_panel<Weight> slice_of_panel(const gemm_weights<Weight>& w, int index, int begin, int end) {
  const int width = static_cast<int>(width_of_panel(w.channels, index)), left = w.first_channel + index * panel_width;
  const int first = begin > left ? begin : left, last = end < left + width ? end : left + width;
  constexpr int per_bias = weights_per_bias<Weight>;
  const std::ptrdiff_t stride = panel_width * (static_cast<std::ptrdiff_t>(w.depth) + per_bias);
  const Weight *panel = w.data + index * stride, *weights = panel + per_bias * width + (first - left);
  gemm_panel<Weight> p;
  p.bias = reinterpret_cast<const float*>(panel) + (first - left);
  p.weights = weights;
  p.stride = width;
  p.channel = first;
  p.columns = last - first;
  p.panel_stride = stride;
  p.bias_stride = stride * static_cast<std::ptrdiff_t>(sizeof(Weight)) / 4;
  return p;
}

/// The slice of panel `index`, or as many whole panels from there on as tiles take, at most MaxPanels, where all of
/// them are in [begin, end).
template <int MaxPanels, class Kernels, class Weight>
inline gemm_panel<Weight> slice_of_panels(const gemm_weights<Weight>& w, int index, int begin, int end) {
  gemm_panel<Weight> p = slice_of_panel(w, index, begin, end);
  const bool prefetched = has_prefetch_tiles<Kernels> && is_prefetched(w.depth, w.channels, sizeof(Weight));
  const int together =
      panels_of_tile(whole_panels(w.channels, w.first_channel, index, begin, end), MaxPanels, prefetched);
  if (together < 1 || (together == 1 && MaxPanels > 1)) return p;
  p.columns = together * panel_width;
  p.panels = together;
  if (prefetched && together == MaxPanels)
    p.prefetch_at = reinterpret_cast<const char*>(p.weights + together * p.panel_stride);
  return p;
}

/// Whether registers hold the sums of `rows` rows by `panels` panels, and what is multiplied.
constexpr bool fit_registers(int rows, int panels) {
  using simd::f32;
  return f32::lanes == 1 || rows * panels * panel_width / f32::lanes + rows + 1 <= f32::registers;
}

/// Whole panels of 16 from `index` on, several at once, for 1 to gemv_max_rows rows; returns the first panel left
/// over.
template <class Kernels, class Weight>
inline int gemv_panels(int count, const gemm_runs& runs, const gemm_weights<Weight>& w, int index, int begin, int end,
                       const tile_row* rows, const tile_epilogue<Kernels>& e) {
  const std::ptrdiff_t stride = panel_width * (static_cast<std::ptrdiff_t>(w.depth) + weights_per_bias<Weight>);
  const int whole = index + whole_panels(w.channels, w.first_channel, index, begin, end);
  if (!fit_registers(count, 2)) return index;
  while (index + 1 < whole) {
    const gemm_panel<Weight> p = slice_of_panel(w, index, begin, end);
    const bool four = fit_registers(1, 4) && count == 1 && index + 4 <= whole;
    if constexpr (fit_registers(1, 4))
      if (four) gemv_panels_rows<1, 4>(runs, p, stride, rows, e);
    if (!four && count == 1) gemv_panels_rows<1, 2>(runs, p, stride, rows, e);
    if constexpr (fit_registers(2, 2))
      if (count == 2) gemv_panels_rows<2, 2>(runs, p, stride, rows, e);
    index += four ? 4 : 2;
  }
  return index;
}

}

/// Computes `count` rows times the columns that are output channels [begin, end), and stores them through the epilogue.
/// All rows share `runs`. Panels outside, rows inside: call it with as many rows as stay in the second-level cache
/// (gemm_block_rows).
template <class Kernels, class Weight>
NSK_ONE_COPY inline void gemm(int count, const gemm_runs& runs, const gemm_weights<Weight>& w, int begin, int end,
                              const tile_row* rows, const tile_epilogue<Kernels>& e) {
  const int panels = static_cast<int>(panel_count(w.channels));
  int index = begin > w.first_channel ? (begin - w.first_channel) / panel_width : 0;
  if (index >= panels) index = panels - 1;
  constexpr int max_panels = impl::panels_together<Kernels>;
  while (index < panels) {
    if (count <= gemv_max_rows) index = impl::gemv_panels(count, runs, w, index, begin, end, rows, e);
    if (index >= panels) return;
    const gemm_panel<Weight> p = impl::slice_of_panels<max_panels, Kernels>(w, index, begin, end);
    if (p.columns <= 0) return;
    impl::gemm_panel_rows<max_panels>(count, runs, p, rows, e);
    index += p.panels;
  }
}

namespace impl {

/// Calls multiply(matrix, begin, end) for the columns that are output channels [begin, end), with panels that are
/// widened first, as many at a time as a block holds.
template <class Multiply>
struct widened_product {
  const gemm_weights<half_bits>& w;
  int begin, end;
  const Multiply& multiply;
  NSK_ONE_COPY void run() const {
    using block_type = widened_block<max_widened_weights>;
    block_type block;
    const int panels = static_cast<int>(panel_count(w.channels)),
              together =
                  static_cast<int>(block_type::capacity / (panel_width * (w.depth + 1))) / pair_panels * pair_panels;
    int panel = begin > w.first_channel ? (begin - w.first_channel) / panel_width : 0;
    if (panel >= panels) panel = panels - 1;
    for (int first; panel < panels && (first = w.first_channel + panel * panel_width) < end;) {
      const int next = widen_panels(block, w.data, w.channels, w.depth, panel,
                                    panels - panel < together ? panels : panel + together);
      const std::int64_t channels = next < panels ? (next - panel) * panel_width : w.channels - panel * panel_width;
      const int last = first + static_cast<int>(channels);
      multiply(gemm_weights<widened_float>{block.data, channels, w.depth, first}, begin > first ? begin : first,
               end < last ? end : last);
      panel = next;
    }
  }
};

/// Rows from which on it pays to widen weights before the first one: more than share a call of `gemm`.
inline constexpr std::int64_t min_widened_rows = 128;

/// Calls multiply(matrix, begin, end) for the columns that are output channels [begin, end): once with `w`, or with
/// parts of it as floats where that serves several of the `rows` rows.
template <class Weight, class Multiply>
NSK_INLINE void multiply_matrix(const gemm_weights<Weight>& w, std::int64_t rows, int begin, int end,
                                const Multiply& multiply) {
  if constexpr (std::is_same<Weight, half_bits>::value)
    if (rows >= min_widened_rows && widened_block<max_widened_weights>::fits(w.depth))
      return widened_product<Multiply>{w, begin, end, multiply}.run();
  multiply(w, begin, end);
}

}

/// Maximum number of rows of one call of `gemm`.
inline constexpr int gemm_max_rows = 96;
/// Rows that should share one call, of `rows`: so few that they stay in the second-level cache (256 KiB of it) while
/// panels pass, in about equal blocks of whole tiles.
constexpr int gemm_block_rows(std::int64_t depth, std::int64_t rows) {
  constexpr std::int64_t tile = gemm_tile_rows<tile_columns>();
  const std::int64_t fit = 65536 / (depth > 0 ? depth : 1);
  const std::int64_t maximum = fit < 48 ? 48 : fit > gemm_max_rows ? gemm_max_rows : fit / 6 * 6;
  if (rows <= maximum) return static_cast<int>(maximum);
  const std::int64_t blocks = (rows + maximum - 1) / maximum, tiles = (rows + tile * blocks - 1) / (tile * blocks);
  return static_cast<int>(tiles * tile < maximum ? tiles * tile : maximum);
}

/// Equally spaced rows: where the first one is in input, output and residual (null without one), and the strides to the
/// next.
struct gemm_line {
  const float* input;
  std::ptrdiff_t input_stride;
  float* output;
  std::ptrdiff_t output_stride;
  const float* residual;
  std::ptrdiff_t residual_stride;

  NSK_INLINE gemm_line from(int i) const {
    const float* add = residual == nullptr ? nullptr : residual + i * residual_stride;
    return {input + i * input_stride, input_stride, output + i * output_stride, output_stride, add, residual_stride};
  }
};

/// The rows of one call of `gemm`.
struct gemm_row_list {
  tile_row row[gemm_max_rows];
  int count = 0;

  /// Appends `n` rows; there must be space.
  void push(const gemm_line& l, int n) {
    tile_row next{l.input, l.output, l.residual};
    for (tile_row *to = row + count, *end = to + n; to < end; ++to) {
      *to = next;
      next.input += l.input_stride;
      next.output += l.output_stride;
      if (l.residual != nullptr) next.residual += l.residual_stride;
    }
    count += n;
  }
};

/// Everything that stays the same while rows of one matrix are collected and multiplied.
template <class Kernels, class Weight>
struct gemm_job {
  gemm_runs runs;
  gemm_weights<Weight> weights;
  int channel_begin, channel_end, block;
  tile_epilogue<Kernels> e;
};

/// Multiplies the rows of the list and empties it.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void gemm_flush(const gemm_job<Kernels, Weight>& job, gemm_row_list& list) {
  if (list.count > 0) gemm(list.count, job.runs, job.weights, job.channel_begin, job.channel_end, list.row, job.e);
  list.count = 0;
}
/// Appends `n` rows, multiplying whenever a block is full.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void gemm_push(const gemm_job<Kernels, Weight>& job, gemm_row_list& list, const gemm_line& line,
                                   int n) {
  for (int i = 0; i < n;) {
    const int space = job.block - list.count, some = n - i < space ? n - i : space;
    list.push(line.from(i), some);
    i += some;
    if (list.count == job.block) gemm_flush(job, list);
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
