// SPDX-License-Identifier: MIT
#pragma once
/// Rows of unsigned bytes times panels of int8 weights (format/packing.hpp), stored as bytes again:
///
///   y = saturate(zero + round_half_even(float32(bias + sum of a * w) * scale[channel]))
///
/// or, with a residual r, what is rounded is that product plus (r - residual_zero) * residual_scale. Sums are int32 and
/// exact, so that their order is free; conversion, products and addition round once each
/// (docs/reference/quantisation.md). The zero point of the inputs is in the bias, as minus its product with the sum of
/// the weights. Weights that int8 does not hold are stored less an offset, whose product with the sum of a row's bytes
/// is added to the sums of that row.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/kernels/int8/quad_operands.hpp>
#include <netsuke/kernels/int8/store_quads.hpp>
#include <netsuke/kernels/product/panels_of_tile.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

namespace impl {

/// What adds the products of a quad, the registers that it needs besides the sums, and how many of these it serves.
struct exact_quads {
  static constexpr int weights = 2, others = 3, max_sums = simd::max_widened_sums;
  template <class Quads>
  static NSK_INLINE simd::i32 add(simd::i32 sum, Quads a, simd::i32 w) {
    return simd::dot4(sum, a, w);
  }
};
struct dot4_narrow {
  static constexpr int weights = 1, others = 2, max_sums = simd::max_widened_sums;
  template <class Quads>
  static NSK_INLINE simd::i32 add(simd::i32 sum, Quads a, simd::i32 w) {
    return simd::dot4_narrow(sum, a, w);
  }
};

struct dot4_native {
  static constexpr int weights = 1, others = 1, max_sums = simd::f32::registers;
  template <class Quads>
  static NSK_INLINE simd::i32 add(simd::i32 sum, Quads a, simd::i32 w) {
    return simd::dot4_native(sum, a, w);
  }
};

template <class Products, int Vectors>
constexpr int quad_tile_rows() {
  constexpr int left = simd::f32::registers - Products::weights * Vectors - Products::others,
                rows = (left < Products::max_sums ? left : Products::max_sums) / Vectors;
  return rows < 1 ? 1 : rows > 8 ? 8 : rows;
}

/// Chains of products whose sums are added at the end: a tile of few sums would wait for each of them. Sums are exact,
/// so that their order is free.
template <int Sums>
constexpr int quad_chains() {
  return Sums > 4 ? 1 : Sums > 2 ? 2 : 4;
}

/// Adds the products of one tile to its sums. The weights from `ahead` on are prefetched, `ahead_step` bytes a quad.
template <class Products, int Rows, int Vectors>
NSK_INLINE void accumulate_quads(simd::i32 (&sum)[Rows][Vectors], const quad_runs& runs, const quad_panel& p,
                                 const quad_row* rows, const std::int8_t*& ahead, std::ptrdiff_t ahead_step) {
  using simd::i32;
  using simd::unroll;
  constexpr int chains = quad_chains<Rows * Vectors>();
  const std::uint8_t* row[Rows];
  unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { row[r] = rows[r].input; });
  const std::int8_t* weights = p.weights;
  const std::ptrdiff_t stride = std::ptrdiff_t{4} * p.width;
  const auto add_quad = [&](i32(&to)[Rows][Vectors], std::ptrdiff_t k) NSK_INLINE_LAMBDA {
    i32 w[Vectors];
    unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { w[v] = simd::load_quads(weights + vector_place(p, v)); });
    unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
      const auto a = simd::broadcast_quad(row[r] + k);
      unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { to[r][v] = Products::add(to[r][v], a, w[v]); });
    });
    weights += stride;
  };
  i32 more[chains][Rows][Vectors];  // the first is not used
  unroll<chains * Rows * Vectors>([&](auto i) NSK_INLINE_LAMBDA {
    more[i / (Rows * Vectors)][i / Vectors % Rows][i % Vectors] = simd::splat_i32(0);
  });
  for (int y = 0; y < runs.lines; ++y) {
    for (int x = 0; x < runs.columns; ++x) {
      std::ptrdiff_t k = y * runs.line_stride + x * runs.column_stride;
      int q = runs.quads;
      for (; chains > 1 && q >= chains; q -= chains, k += 4 * chains) {
        add_quad(sum, k);
        unroll<chains - 1>([&](auto c) NSK_INLINE_LAMBDA { add_quad(more[c + 1], k + 4 * (c + 1)); });
      }
      for (; q > 0; --q, k += 4) {
        simd::prefetch(ahead);
        ahead += ahead_step;
        add_quad(sum, k);
      }
    }
  }
  unroll<(chains - 1) * Rows * Vectors>([&](auto i) NSK_INLINE_LAMBDA {
    constexpr int r = i / Vectors % Rows, v = i % Vectors;
    sum[r][v] = simd::add(sum[r][v], more[i / (Rows * Vectors) + 1][r][v]);
  });
}

/// What the sums of a panel begin with: biases, and what the products leave out.
template <int Vectors>
NSK_INLINE void begin_quad_sums(simd::i32 (&sum)[Vectors], const quad_runs& runs, const quad_panel& p) {
  using simd::i32;
  simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
    sum[v] = simd::load_i32(reinterpret_cast<const std::int32_t*>(p.bias + vector_place(p, v)));
  });
  if constexpr (simd::dots_leave_out) {
    const std::int8_t* weights = p.weights;
    for (int q = runs.lines * runs.columns * runs.quads; q > 0; --q, weights += std::ptrdiff_t{4} * p.width)
      simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
        sum[v] = simd::add_left_out(sum[v], simd::load_quads(weights + vector_place(p, v)));
      });
  }
}

/// Adds what a row adds to all its sums.
template <int Rows, int Vectors>
NSK_INLINE void add_to_rows(simd::i32 (&sum)[Rows][Vectors], const quad_row* row) {
  simd::unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    const simd::i32 added = simd::splat_i32(row[r].added);
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { sum[r][v] = simd::add(sum[r][v], added); });
  });
}

/// `tiles` tiles of Rows rows, one below the other.
template <class Products, int Rows, int Vectors>
NSK_ONE_COPY inline void quad_tiles(int tiles, const quad_runs& runs, const quad_panel& panel, const quad_row* row,
                                    const quad_store& store) {
  using simd::i32;
  using simd::unroll;
  if (tiles == 0) return;
  const quad_panel p = panel;
  constexpr int panels = Vectors * i32::lanes > panel_width ? Vectors * i32::lanes / panel_width : 1;
  // The panels behind these are prefetched on the way: each quad takes its part, at most a cache line. The tiles share
  // them; their number is rounded down to a power of two.
  const std::int8_t* ahead = p.weights + panels * p.stride;
  const std::ptrdiff_t share = std::ptrdiff_t{4} * panels * p.width /
                               (tiles > 7   ? 8
                                : tiles > 3 ? 4
                                : tiles > 1 ? 2
                                            : 1),
                       ahead_step = share < 64 ? share : 64;
  i32 first[Vectors];
  // These begin with what signed dot products lack, a sum over all weights (simd/vec.hpp): once for all tiles.
  if constexpr (simd::dots_leave_out) begin_quad_sums(first, runs, p);
  for (; tiles > 0; --tiles, row += Rows) {
    i32 sum[Rows][Vectors];
    if constexpr (!simd::dots_leave_out) begin_quad_sums(first, runs, p);  // loading again costs less than a register
    unroll<Vectors>([&](auto v)
                        NSK_INLINE_LAMBDA { unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = first[v]; }); });
    if (store.adds_to_rows) add_to_rows(sum, row);
    accumulate_quads<Products>(sum, runs, p, row, ahead, ahead_step);
    simd::f32 scale[Vectors];
    unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { scale[v] = load_scale(p, v); });
    store_quad_tile(sum, scale, row, p, store);
  }
}

/// All rows of at most Vectors vectors of columns, in whole tiles, a single row behind them in a tile of its own. Rows
/// that the last tile misses repeat the last one, whose bytes are stored again: a third height of tiles would be 6 KB
/// of code.
template <class Products, int Vectors>
NSK_ONE_COPY inline void quad_rows(int count, const quad_runs& runs, const quad_panel& p, const quad_row* row,
                                   const quad_store& store) {
  constexpr int rows = quad_tile_rows<Products, Vectors>();
  const int tiles = count / rows, left = count % rows;
  quad_tiles<Products, rows, Vectors>(tiles, runs, p, row, store);
  row += tiles * rows;
  if (left < 2) return quad_tiles<Products, 1, Vectors>(left, runs, p, row, store);
  quad_row whole[rows];
  for (int r = 0; r < rows; ++r) whole[r] = row[r < left ? r : left - 1];
  quad_tiles<Products, rows, Vectors>(1, runs, p, whole, store);
}

/// Panels that one row is multiplied by at once: as many as fill a register of bytes.
inline constexpr int line_panels = simd::packed_vectors * simd::i32::lanes / panel_width;

/// One row of line_panels whole panels: one way through the row, sums that do not wait for each other, one store.
template <class Products>
NSK_ONE_COPY inline void quad_line(const quad_runs& runs, const quad_panel& p, const quad_row* row,
                                   const quad_store& store) {
  constexpr int vectors = simd::packed_vectors;
  const std::int8_t* ahead = p.weights + line_panels * p.stride;
  simd::i32 sum[1][vectors];
  begin_quad_sums(sum[0], runs, p);
  if (store.adds_to_rows) add_to_rows(sum, row);
  accumulate_quads<Products>(sum, runs, p, row, ahead, 64);
  simd::f32 x[vectors];
  simd::unroll<vectors>([&](auto v) NSK_INLINE_LAMBDA {
    x[v] = simd::mul(simd::to_f32(sum[0][v]), load_scale(p, v));
    if (store.residual_scale != 0)
      x[v] = simd::add(x[v], residual_units(store, row->residual + p.channel + v * simd::f32::lanes));
  });
  simd::store_packed(row->output + p.channel, simd::to_bytes(x, store.range));
}

/// The 16 columns of a panel behind the first `done`, or what remains.
inline quad_panel sixteen_columns(quad_panel p, int done) {
  p.bias += 4 * done;
  p.scale += 4 * done;
  p.weights += 4 * done;
  p.channel += done;
  p.columns = p.columns - done < panel_width ? p.columns - done : panel_width;
  return p;
}

/// All rows of a panel, by 16 columns and what remains of a panel of 24.
template <class Products>
inline void quad_panel_rows(int count, const quad_runs& runs, const quad_panel& panel, const quad_row* row,
                            const quad_store& store) {
  constexpr int lanes = simd::i32::lanes, vectors = (panel_width + lanes - 1) / lanes,
                half_vectors = (panel_width / 2 + lanes - 1) / lanes;
  for (int done = 0; done < panel.columns; done += panel_width) {
    const quad_panel p = sixteen_columns(panel, done);
    if (p.columns > panel_width / 2)
      quad_rows<Products, vectors>(count, runs, p, row, store);
    else
      quad_rows<Products, half_vectors>(count, runs, p, row, store);
  }
}

/// All rows of pair_panels whole panels.
template <class Products>
inline void quad_panels_rows(int count, const quad_runs& runs, quad_panel panels, const quad_row* row,
                             const quad_store& store) {
  panels.columns = pair_panels * panel_width;
  quad_rows<Products, pair_panels * panel_width / simd::i32::lanes>(count, runs, panels, row, store);
}

/// The part of panel `index` that is in output channels [begin, end); columns is 0 or less where there is none.
inline quad_panel quad_panel_part(const quad_weights& w, int index, int begin, int end) {
  const int width = static_cast<int>(width_of_panel(w.channels, index)), left = w.first_channel + index * panel_width;
  const int first = begin > left ? begin : left, last = end < left + width ? end : left + width;
  const std::byte* const panel = w.data + std::int64_t{4} * panel_width * index * (w.quads + 2) + 4 * (first - left);
  const auto* const weights = reinterpret_cast<const std::int8_t*>(panel + 8 * width);
  const auto stride = static_cast<std::ptrdiff_t>(4 * panel_width * (w.quads + 2));
  quad_panel p;
  p.bias = panel;
  p.scale = panel + 4 * width;
  p.weights = weights;
  p.width = width;
  p.channel = first;
  p.columns = last - first;
  p.stride = stride;
  return p;
}

}

/// The sum of `count` bytes.
inline std::uint32_t sum_of_bytes(const std::uint8_t* p, std::int64_t count) {
  using simd::i32;
  std::uint32_t total = 0;
  if (count >= 4 * i32::lanes) {
    i32 sum = simd::splat_i32(0);
    for (; count >= 4 * i32::lanes; count -= 4 * i32::lanes, p += 4 * i32::lanes) sum = simd::add_bytes(sum, p);
    std::int32_t lane[i32::lanes];
    simd::store_i32(lane, sum);
    for (const std::int32_t l : lane) total += static_cast<std::uint32_t>(l);
  }
  constexpr std::uint64_t even = 0x00ff00ff00ff00ff, ones = 0x0001000100010001;
  for (; count >= 8; count -= 8, p += 8) {  // bytes as four sums of two, whose sum is the upper part of a product
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    total += static_cast<std::uint32_t>((((word & even) + ((word >> 8) & even)) * ones) >> 48);
  }
  for (; count > 0; --count, ++p) total += *p;
  return total;
}

/// Computes `count` rows times the columns that are output channels [begin, end). All rows share `runs`, which have
/// w.quads quads. Inputs and weights may be read up to `over_read` bytes past their end.
template <class Support = quad_support<>>
NSK_ONE_COPY inline void quantized_gemm(int count, const quad_runs& runs, const quad_weights& w, int begin, int end,
                                        const quad_row* rows, const quad_store& store) {
  const int panels = static_cast<int>(panel_count(w.channels));
  int index = begin > w.first_channel ? (begin - w.first_channel) / panel_width : 0;
  if (index >= panels) index = panels - 1;
  for (int done = 1; index < panels; index += done) {
    const impl::quad_panel p = impl::quad_panel_part(w, index, begin, end);
    if (p.columns <= 0) return;
    const auto starts = [&](int several) NSK_INLINE_LAMBDA {
      return several > 1 && whole_panels(w.channels, w.first_channel, index, begin, end) >= several;
    };
    const bool line = count == 1 && starts(impl::line_panels), several = count > 1 && starts(pair_panels);
    done = line ? impl::line_panels : several ? pair_panels : 1;
    const auto multiply = [&](auto products) NSK_INLINE_LAMBDA {
      using by = decltype(products);
      if (line) return impl::quad_line<by>(runs, p, rows, store);
      if constexpr (pair_panels > 1)
        if (several) return impl::quad_panels_rows<by>(count, runs, p, rows, store);
      impl::quad_panel_rows<by>(count, runs, p, rows, store);
    };
    if (w.products == quad_products::at_once)
      multiply(impl::dot4_native());
    else if (w.products == quad_products::safe || !Support::unsafe)
      multiply(impl::dot4_narrow());
    else if constexpr (Support::unsafe)
      multiply(impl::exact_quads());
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
