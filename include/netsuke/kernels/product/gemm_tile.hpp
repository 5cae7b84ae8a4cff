// SPDX-License-Identifier: MIT
#pragma once
/// The inner tile of every product with packed weights: a few rows by one panel, accumulators in registers.
///
/// Each output is one chain of fused multiply-adds that starts with the bias and takes k in ascending order, so its
/// bits depend neither on the tile's size nor on the width of the registers. With int8 weights the chain starts with 0,
/// and one more multiply-add takes it times the channel's scale plus the bias.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/epilogue.hpp>
#include <netsuke/kernels/product/panels_of_tile.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Where the k of one row are: `lines` x `columns` runs of `length` contiguous floats, whose starts are `line_stride`
/// and `column_stride` floats apart, in this order. A plain row is one run.
struct gemm_runs {
  int lines = 1, columns = 1, length;
  std::ptrdiff_t line_stride = 0, column_stride = 0;
};

/// Columns of tiles of several panels, and of pairs of them.
inline constexpr int tile_columns = tile_panels * panel_width, pair_columns = pair_panels * panel_width;

/// Some k of a panel of float16: `offset` is how far behind the beginning of a row its inputs are, and `widened` where
/// tiles leave the weights as floats, in the order of k, for the tiles that follow.
template <class Weight>
struct panel_slice {};
template <>
struct panel_slice<half_bits> {
  std::ptrdiff_t offset = 0;
  simd::widened_float* widened = nullptr;
};
template <>
struct panel_slice<simd::widened_float> {
  std::ptrdiff_t offset = 0;
};

template <class Weight>
inline constexpr bool is_part = !std::is_empty<panel_slice<Weight>>::value;

/// One panel, or some of its columns, at most 24; or `panels` whole panels, pair_panels or tile_panels. Of int8 weights
/// the scales are `stride` floats behind the biases. Where tiles prefetch, each takes an equal share.
template <class Weight>
struct gemm_panel : panel_slice<Weight> {
  const float* bias = nullptr;      ///< of the first column; null: sums go on from the outputs (widened_panels.hpp)
  const Weight* weights = nullptr;  ///< of the first column
  int stride = 0;                   ///< weights from one k to the next
  int channel = 0;                  ///< number of the first column in the output
  int columns = 0;                  ///< how many are stored
  int panels = 1;
  std::ptrdiff_t panel_stride = 0;     ///< weights from one panel to the next
  std::ptrdiff_t bias_stride = 0;      ///< floats from the biases of one panel to those of the next
  const char* prefetch_at = nullptr;   ///< where tiles of whole panels prefetch; null: they do not
  std::ptrdiff_t prefetch_stride = 0;  ///< bytes of each panel that they prefetch at every tuning::gemm_steps k

  /// The bias of a column.
  NSK_INLINE const float* bias_of(int column) const {
    return panels > 1 ? bias + column / panel_width * bias_stride + column % panel_width : bias + column;
  }
};

/// Where the register of columns [v * lanes, (v + 1) * lanes) begins in panels `stride` elements apart. Tiles that are
/// wider than any panel have several panels of panel_width columns.
template <int Width>
constexpr std::ptrdiff_t column_offset(int v, std::ptrdiff_t stride) {
  const int column = v * simd::f32::lanes;
  return Width > max_panel_width ? column / panel_width * stride + column % panel_width : column;
}

/// Whether only 8 columns of a panel are in its last register, of 16.
template <int Width>
inline constexpr bool half_tail = Width % simd::f32::lanes != 0;

/// Rows of the register tile for panels of Width columns: accumulators, one line of weights and one input, or one of
/// each row, fill the registers; or where compilers keep the order, inputs of all rows and one register of weights.
template <int Width>
constexpr int gemm_tile_rows() {
  using simd::f32;
  constexpr int vectors = (Width + f32::lanes - 1) / f32::lanes;
  constexpr int rows = simd::tuning::loads_inputs_first ? (f32::registers - vectors) / (vectors + 1)
                                                        : (f32::registers - vectors - 1) / vectors;
  constexpr int by_inputs = simd::tuning::keeps_order ? (f32::registers - 1) / (vectors + 1) : 0,
                fit = by_inputs > rows ? by_inputs : rows;
  constexpr int maximum = Width == 8 ? simd::tuning::max_narrow_rows : simd::tuning::max_gemm_rows;
  return fit < 1 ? 1 : fit > maximum ? maximum : fit;
}
/// Fewest rows of a register tile, but for a single row: fewer would take as long (a core waits for about eight
/// chains), and almost any number of rows can be cut into tiles between these two. Of the widest tiles, which have most
/// code, there are three heights.
template <int Width>
constexpr int gemm_min_rows() {
  constexpr int maximum = gemm_tile_rows<Width>(), vectors = (Width + simd::f32::lanes - 1) / simd::f32::lanes;
  constexpr int fewest = Width > 2 * panel_width ? maximum - 2 : (2 * maximum + 2) / 3,
                chains = (8 + vectors - 1) / vectors, busy = chains < maximum ? chains : maximum;
  return fewest < busy ? busy : fewest;
}
/// Maximum number of rows that gemv_tile takes.
inline constexpr int gemv_max_rows = 2;

namespace impl {

/// What a sum begins with, and what it becomes; `bias` points at those of its channels.
template <class Weight>
NSK_INLINE simd::f32 begin_sum(const float* bias) {
  if constexpr (std::is_same<Weight, std::int8_t>::value)
    return simd::zero();
  else
    return simd::load(bias);
}
template <class Weight>
NSK_INLINE simd::f32 end_sum(simd::f32 sum, const float* bias, int stride) {
  if constexpr (std::is_same<Weight, std::int8_t>::value)
    return simd::fma(sum, simd::load(bias + stride), simd::load(bias));
  else
    return sum;
}

/// Begins the sums of one tile with what its outputs hold.
template <int Rows, int Vectors>
NSK_INLINE void resume_sums(simd::f32 (&sum)[Rows][Vectors], const tile_row* row, int channel) {
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    const float* from = row[r].output + channel;
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { sum[r][v] = simd::load(from + v * simd::f32::lanes); });
  });
}

/// Whether a tile holds the inputs of all its rows and one register of weights at a time: the weights of all its
/// columns, and one input, would not fit.
template <int Rows, int Vectors>
constexpr bool holds_inputs() {
  return simd::tuning::keeps_order && Rows * Vectors + Vectors + 1 > simd::f32::registers;
}

/// Adds the products of one k to the sums of a tile that holds_inputs: of one panel, whose weights are at `from`,
/// `stride` apart from one k to the next.
template <int Rows, int Vectors, class Weight>
NSK_INLINE void multiply_inputs(simd::f32 (&sum)[Rows][Vectors], const float* const (&row)[Rows], std::ptrdiff_t k,
                                const Weight* from, panel_slice<Weight>& part, std::ptrdiff_t stride) {
  using simd::f32, simd::unroll;
  f32 a[Rows];
  unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { a[r] = simd::broadcast(row[r] + k); });
  unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
    const f32 w = simd::load_weights(from + v * f32::lanes);
    if constexpr (std::is_same<Weight, half_bits>::value) simd::store(&part.widened[v * f32::lanes].value, w);
    unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = simd::fma(a[r], w, sum[r][v]); });
  });
  if constexpr (std::is_same<Weight, half_bits>::value) part.widened += stride;
}

/// Adds the products of one tile to its sums. All rows share runs, panel and stride. With Prefetch it prefetches
/// from `prefetch_at` on. 8 columns behind the last whole register of 16 are computed as such: some processors take
/// half the time.
template <int Width, bool Prefetch, int Rows, int Vectors, class Weight>
NSK_INLINE void accumulate(simd::f32 (&sum)[Rows][Vectors], const gemm_runs& runs, const gemm_panel<Weight>& p,
                           const tile_row* rows, const char*& prefetch_at) {
  using simd::f32, simd::unroll;
  constexpr bool low = half_tail<Width>, several = Width > max_panel_width;
  constexpr int whole = low ? Vectors - 1 : Vectors, steps = Prefetch ? simd::tuning::gemm_steps : 1;
  const float* row[Rows];
  unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { row[r] = rows[r].input; });
  const Weight* weights = p.weights;
  const char* next = prefetch_at;
  panel_slice<Weight> part = p;
  constexpr bool as_packed = several && !std::is_same<Weight, simd::widened_float>::value;
  const std::ptrdiff_t stride = as_packed ? panel_width : p.stride, panel_stride = p.panel_stride,
                       prefetch_stride = p.prefetch_stride,
                       panel_bytes = panel_stride * static_cast<std::ptrdiff_t>(sizeof(Weight));
  const auto multiply = [&](std::ptrdiff_t k, const Weight* from) NSK_INLINE_LAMBDA {
    if constexpr (holds_inputs<Rows, Vectors>()) {
      multiply_inputs(sum, row, k, from, part, stride);
    } else {
      f32 w[Vectors];
      unroll<whole>([&](auto v)
                        NSK_INLINE_LAMBDA { w[v] = simd::load_weights(from + column_offset<Width>(v, panel_stride)); });
      if constexpr (low) w[whole] = simd::load_weights_low(from + whole * f32::lanes);
      if constexpr (std::is_same<Weight, half_bits>::value) {
        unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { simd::store(&part.widened[v * f32::lanes].value, w[v]); });
        part.widened += several ? Width : stride;
      }
      unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
        const f32 a = low ? simd::broadcast_low(row[r] + k) : simd::broadcast(row[r] + k);
        unroll<whole>([&](auto v) NSK_INLINE_LAMBDA { sum[r][v] = simd::fma(a, w[v], sum[r][v]); });
        if constexpr (low) sum[r][whole] = simd::fma_low(a, w[whole], sum[r][whole]);
      });
    }
  };
  std::ptrdiff_t line = 0;
  if constexpr (is_part<Weight>) line = part.offset;
  for (int y = runs.lines; y > 0; --y, line += runs.line_stride) {
    std::ptrdiff_t column = line;
    for (int x = runs.columns; x > 0; --x, column += runs.column_stride) {
      std::ptrdiff_t k = column;
      const std::ptrdiff_t end = k + runs.length;
      for (; k + steps <= end; k += steps, weights += steps * stride) {
        if constexpr (Prefetch) {
          unroll<several ? Width / panel_width : 1>([&](auto i)
                                                        NSK_INLINE_LAMBDA { simd::prefetch(next + i * panel_bytes); });
          next += prefetch_stride;
        }
        unroll<steps>([&](auto i) NSK_INLINE_LAMBDA { multiply(k + i, weights + i * stride); });
      }
      if constexpr (steps > 1)
        for (; k < end; ++k, weights += stride) multiply(k, weights);
    }
  }
  prefetch_at = next;
}

/// `tiles` tiles of Rows rows, one below the other, by panels of at most Width columns; all of them where registers are
/// not stored in part. Returns where the tiles behind them prefetch.
template <int Rows, int Width, bool Prefetch, class Kernels, class Weight>
NSK_ONE_COPY inline const char* gemm_tiles(int tiles, const gemm_runs& runs, const gemm_panel<Weight>& panel,
                                           const tile_row* row, const register_epilogue<Kernels>& e) {
  using simd::f32;
  constexpr int vectors = (Width + f32::lanes - 1) / f32::lanes, columns = vectors * f32::lanes;
  NSK_ASSERT(panel.columns > 0 && panel.columns <= columns, "a tile stores 1 to all of its columns");
  NSK_ASSERT(runs.lines > 0 && runs.columns > 0 && runs.length > 0, "a tile sums at least one product");
  const gemm_panel<Weight> p = panel;
  const char* prefetch_at = p.prefetch_at;
  for (; tiles > 0; --tiles, row += Rows) {
    if (e.adds) simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { simd::prefetch(row[r].residual + p.channel); });
    f32 sum[Rows][vectors];
    if (is_part<Weight> && p.bias == nullptr)
      resume_sums(sum, row, p.channel);
    else
      simd::unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
        const f32 bias = begin_sum<Weight>(p.bias + column_offset<Width>(v, p.bias_stride));
        simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = bias; });
      });
    accumulate<Width, Prefetch>(sum, runs, p, row, prefetch_at);
    if constexpr (std::is_same<Weight, std::int8_t>::value)
      simd::unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
        simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
          sum[r][v] = end_sum<Weight>(sum[r][v], p.bias + column_offset<Width>(v, p.bias_stride), p.stride);
        });
      });
    store_tile<half_tail<Width>>(sum, e, row, p.channel, simd::tuning::stores_parts ? p.columns : columns);
  }
  return prefetch_at;
}

/// Calls gemm_tiles for tiles of exactly `height` rows, gemm_min_rows <= height <= Rows.
template <int Rows, int Width, bool Prefetch, class Kernels, class Weight>
NSK_INLINE const char* gemm_tiles_of(int height, int tiles, const gemm_runs& runs, const gemm_panel<Weight>& p,
                                     const tile_row* row, const register_epilogue<Kernels>& e) {
  if constexpr (Rows > gemm_min_rows<Width>()) {
    if (height < Rows) return gemm_tiles_of<Rows - 1, Width, Prefetch>(height, tiles, runs, p, row, e);
  }
  return gemm_tiles<Rows, Width, Prefetch>(tiles, runs, p, row, e);
}

/// `count` rows in tiles of equal height as far as possible (49 rows are 4 x 6 + 5 x 5); tile_heights::cover(count) is
/// count. With Prefetch each tile prefetches an equal share of as many weights as it reads.
template <int Width, bool Prefetch, class Kernels, class Weight>
inline void gemm_equal_tiles(int count, const gemm_runs& runs, gemm_panel<Weight> p, const tile_row* row,
                             const register_epilogue<Kernels>& e) {
  constexpr int maximum = gemm_tile_rows<Width>();
  const int tiles = (count + maximum - 1) / maximum, height = count / tiles, higher = count % tiles;
  const int share = simd::tuning::gemm_steps * p.stride * static_cast<int>(sizeof(Weight)) / tiles;
  p.prefetch_stride = share < 64 ? share : 64;
  if constexpr (Width <= max_panel_width)
    if (count == 1) return static_cast<void>(gemm_tiles<1, Width, false>(1, runs, p, row, e));
  if (higher > 0) p.prefetch_at = gemm_tiles_of<maximum, Width, Prefetch>(height + 1, higher, runs, p, row, e);
  gemm_tiles_of<maximum, Width, Prefetch>(height, tiles - higher, runs, p, row + higher * (height + 1), e);
}
/// `count` rows in tiles of equal height for the panels of `p`, at most MaxPanels; only tiles of as many prefetch.
template <int MaxPanels, class Kernels, class Weight>
NSK_ONE_COPY inline void gemm_equal_tiles(int count, const gemm_runs& runs, const gemm_panel<Weight>& p,
                                          const tile_row* row, const register_epilogue<Kernels>& e) {
  [[maybe_unused]] constexpr int columns = MaxPanels * panel_width;
  if constexpr (has_prefetch_tiles<Kernels> && !std::is_same<Weight, simd::widened_float>::value)
    if (p.prefetch_at != nullptr && p.panels == MaxPanels && p.columns == columns)
      return gemm_equal_tiles<columns, true>(count, runs, p, row, e);
  if constexpr (MaxPanels > pair_panels)
    if (p.panels == MaxPanels) return gemm_equal_tiles<columns, false>(count, runs, p, row, e);
  if constexpr (MaxPanels > 1)
    if (p.panels > 1) return gemm_equal_tiles<pair_columns, false>(count, runs, p, row, e);
  if (p.columns > 16) return gemm_equal_tiles<24, false>(count, runs, p, row, e);
  if (p.columns > 8) return gemm_equal_tiles<16, false>(count, runs, p, row, e);
  gemm_equal_tiles<8, false>(count, runs, p, row, e);
}

/// Heights of the tiles for so many columns of one panel, or for several panels; `single` is the height that a single
/// row is computed with.
struct tile_heights {
  int minimum, maximum, single = 1;

  static constexpr tile_heights of(int columns, int panels) {
    constexpr int of_three = gemm_min_rows<tile_columns>(), of_two = gemm_min_rows<pair_columns>();
    if (panels > pair_panels) return {of_three, gemm_tile_rows<tile_columns>(), of_three};
    if (panels > 1) return {of_two, gemm_tile_rows<pair_columns>(), of_two};
    if (columns > 16) return {gemm_min_rows<24>(), gemm_tile_rows<24>()};
    if (columns > 8) return {gemm_min_rows<16>(), gemm_tile_rows<16>()};
    return {gemm_min_rows<8>(), gemm_tile_rows<8>()};
  }
  /// Smallest number of rows from `count` on that tiles cover.
  constexpr int cover(int count) const {
    if (count <= single) return single;
    const int tiles = (count + maximum - 1) / maximum;
    return count < tiles * minimum ? tiles * minimum : count;
  }
};

/// Rows, and columns in whole registers, whose results wait in a block for an epilogue that is not done in registers;
/// fewer columns leave space for more rows, up to max_block_rows.
inline constexpr int block_rows = 48, block_columns = simd::tuning::block_columns, max_block_rows = 2 * block_rows;
static_assert(block_columns >= (pair_columns > max_panel_width ? pair_columns : max_panel_width) &&
                  block_rows * block_columns >= tile_columns * gemm_tile_rows<tile_columns>(),
              "a block holds the results of a tile");

/// One or two rows by several neighbouring panels of 16, `panel_stride` weights apart, at once: as many chains as hide
/// the latency.
template <int Rows, int Panels, class Kernels, class Weight>
NSK_ONE_COPY inline void gemv_tile(const gemm_runs& runs, const gemm_panel<Weight>& p, std::ptrdiff_t panel_stride,
                                   const tile_row* row, const register_epilogue<Kernels>& e) {
  using simd::f32, simd::unroll;
  constexpr int vectors = Panels * panel_width / f32::lanes;
  const std::ptrdiff_t bias_stride = panel_stride * static_cast<std::ptrdiff_t>(sizeof(Weight)) / 4;  // in floats
  f32 sum[Rows][vectors];
  unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
    const f32 bias = begin_sum<Weight>(p.bias + vector_offset(v, bias_stride));
    unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = bias; });
  });
  const Weight* weights = p.weights;
  for (int y = 0; y < runs.lines; ++y) {
    for (int x = 0; x < runs.columns; ++x) {
      std::ptrdiff_t k = y * runs.line_stride + x * runs.column_stride;
      for (const std::ptrdiff_t end = k + runs.length; k < end; ++k, weights += panel_width) {
        f32 a[Rows];
        unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { a[r] = simd::broadcast(row[r].input + k); });
        unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
          const f32 w = simd::load_weights(weights + vector_offset(v, panel_stride));
          unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = simd::fma(a[r], w, sum[r][v]); });
        });
      }
    }
  }
  unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
    const float* const bias = p.bias + vector_offset(v, bias_stride);
    unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = end_sum<Weight>(sum[r][v], bias, panel_width); });
  });
  store_tile(sum, e, row, p.channel, Panels * panel_width);
}

/// One tile of Rows rows by Columns whole columns under any epilogue: tile(rows, channel, register_epilogue) computes
/// it. Of the rows the first `count` are its own, the others repeat one of them.
template <int Rows, int Columns, class Kernels, class Tile>
NSK_INLINE void tile_under_epilogue(const tile_row* row, int count, int channel, const tile_epilogue<Kernels>& e,
                                    Tile tile) {
  if (e.stores_tiles()) {
    tile(row, channel, e.registers);
    if (e.maps()) map_rows<Kernels>(*e.e, row, count, channel, Columns);
    return;
  }
  alignas(64) float block[Rows * Columns];
  tile_row line[Rows];
  for (int r = 0; r < Rows; ++r) line[r] = {row[r].input, block + r * Columns, nullptr};
  tile(line, 0, register_epilogue<Kernels>{});
  finish_block(block, count, Columns, e, row, channel, Columns);
}

/// gemv_tile under any epilogue.
template <int Rows, int Panels, class Kernels, class Weight>
NSK_ONE_COPY inline void gemv_panels_rows(const gemm_runs& runs, const gemm_panel<Weight>& p,
                                          std::ptrdiff_t panel_stride, const tile_row* row,
                                          const tile_epilogue<Kernels>& e) {
  tile_under_epilogue<Rows, Panels * panel_width>(
      row, Rows, p.channel, e, [&](const tile_row* to, int channel, const auto& registers) NSK_INLINE_LAMBDA {
        gemm_panel<Weight> all = p;
        all.channel = channel;
        gemv_tile<Rows, Panels>(runs, all, panel_stride, to, registers);
      });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
