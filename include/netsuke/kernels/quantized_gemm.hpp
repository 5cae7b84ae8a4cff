// SPDX-License-Identifier: MIT
#pragma once
/// Rows of unsigned bytes times panels of int8 weights (format/packing.hpp), stored as bytes again:
///
///   y = saturate(zero + round_half_even(float32(bias + sum of a * w) * scale[channel]))
///
/// or, with a residual r, what is rounded is that product plus (r - residual_zero) * residual_scale. Sums are int32 and
/// exact, so that their order is free; conversion, products and addition round once each (docs/quantisation.md). The
/// zero point of the inputs is in the bias, as minus its product with the sum of the weights. Weights that int8 does
/// not hold are stored less an offset, whose product with the sum of a row's bytes is added to the sums of that row.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <netsuke/format/packing.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Where the quads of one row are: `lines` x `columns` runs of `quads` contiguous quads, whose starts are `line_step`
/// and `column_step` bytes apart. The last quad of a run may reach past it, to bytes whose weights are zeros.
struct quad_runs {
  int lines = 1, columns = 1, quads;
  std::ptrdiff_t line_step = 0, column_step = 0;
};

/// One row: its first input, and output and residual of channel 0.
struct quad_row {
  const std::uint8_t* input;
  std::uint8_t* output;
  const std::uint8_t* residual = nullptr;  ///< read only where quad_store::residual_scale is not 0
  std::int32_t added = 0;                  ///< to all sums; read only where quad_store::adds_to_rows
};

/// How rows are stored.
struct quad_store {
  simd::u8_range range;
  float residual_scale = 0;  ///< 0: there is no residual
  std::int32_t residual_zero = 0;
  bool adds_to_rows = false;
};

/// How the products of a quad are added (simd/vec.hpp). All give the same sums, where they may be used.
enum class quad_products : std::uint8_t {
  exact,   ///< any weights
  safe,    ///< no pair of weights of any quad saturates
  at_once  ///< any weights, where the machine multiplies_quads()
};
/// Returns the fastest for weights that are safe or not, on a machine that simd::multiplies_quads() or not.
constexpr quad_products fastest_products(bool safe, bool multiplies_quads) {
  return multiplies_quads ? quad_products::at_once : safe ? quad_products::safe : quad_products::exact;
}

/// A packed matrix of `channels` columns from `data` on; column 0 is channel `first_channel` of the output.
struct quad_weights {
  const std::byte* data;
  std::int64_t channels, quads;
  int first_channel;
  quad_products products;
};

namespace impl {

/// One panel, or some of its columns.
struct quad_panel {
  const std::byte* bias;   ///< of the first column; int32
  const std::byte* scale;  ///< float32
  const std::int8_t* weights;
  int width, channel, columns;
};

/// What adds the products of a quad, and the registers that it needs besides the sums.
struct exact_quads {
  static constexpr int weights = 2, others = 3;
  static NSK_INLINE simd::i32 add(simd::i32 sum, simd::i32 a, simd::i32 w) { return simd::dot_quads(sum, a, w); }
};
struct safe_quads {
  static constexpr int weights = 1, others = 2;
  static NSK_INLINE simd::i32 add(simd::i32 sum, simd::i32 a, simd::i32 w) { return simd::dot_safe_quads(sum, a, w); }
};

struct quads_at_once {
  static constexpr int weights = 1, others = 1;
  static NSK_INLINE simd::i32 add(simd::i32 sum, simd::i32 a, simd::i32 w) {
    return simd::dot_quads_at_once(sum, a, w);
  }
};

template <class Products, int Vectors>
constexpr int quad_tile_rows() {
  constexpr int rows = (simd::f32::registers - Products::weights * Vectors - Products::others) / Vectors;
  return rows < 1 ? 1 : rows > 8 ? 8 : rows;
}

/// Adds the products of one tile to its sums.
template <class Products, int Rows, int Vectors>
NSK_INLINE void accumulate_quads(simd::i32 (&sum)[Rows][Vectors], const quad_runs& runs, const quad_panel& p,
                                 const quad_row* rows) {
  using simd::i32;
  using simd::unroll;
  const std::uint8_t* row[Rows];
  unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { row[r] = rows[r].input; });
  const std::int8_t* weights = p.weights;
  const std::ptrdiff_t step = std::ptrdiff_t{4} * p.width;
  for (int y = 0; y < runs.lines; ++y) {
    for (int x = 0; x < runs.columns; ++x) {
      std::ptrdiff_t k = y * runs.line_step + x * runs.column_step;
      for (int q = runs.quads; q > 0; --q, k += 4, weights += step) {
        i32 w[Vectors];
        unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { w[v] = simd::load_quads(weights + v * 4 * i32::lanes); });
        unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
          const i32 a = simd::broadcast_quad(row[r] + k);
          unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { sum[r][v] = Products::add(sum[r][v], a, w[v]); });
        });
      }
    }
  }
}

/// What is added to the sums of a row, in units of the output.
NSK_INLINE simd::f32 residual_units(const quad_store& store, const std::uint8_t* from) {
  const simd::f32 zero = simd::splat(static_cast<float>(store.residual_zero));
  return simd::mul(simd::sub(simd::load_u8(from), zero), simd::splat(store.residual_scale));
}

/// A vector of sums in units of the output.
template <bool Residual>
NSK_INLINE simd::f32 units_of(simd::i32 sum, simd::f32 scale, const quad_store& store, const std::uint8_t* residual) {
  const simd::f32 units = simd::mul(simd::to_f32(sum), scale);
  if constexpr (Residual)
    return simd::add(units, residual_units(store, residual));
  else
    return units;
}

/// Stores as many rows of a tile as a register of bytes holds, or fewer: whole lines of 8 or 16 columns.
template <int Columns, int Count, int Vectors>
NSK_INLINE void store_quad_rows(const simd::i32 (*sum)[Vectors], const simd::f32 (&scale)[Vectors], const quad_row* row,
                                const quad_panel& p, const quad_store& store) {
  constexpr int pitch = Vectors * simd::f32::lanes, vectors = simd::packed_vectors;
  simd::f32 x[vectors];
  simd::unroll<vectors>([&](auto i) NSK_INLINE_LAMBDA {
    if constexpr (i < Count * Vectors)
      x[i] = simd::mul(simd::to_f32(sum[i / Vectors][i % Vectors]), scale[i % Vectors]);
    else
      x[i] = simd::zero();
  });
  const simd::packed_bytes bytes = simd::to_bytes(x, store.range);
  simd::unroll<Count>(
      [&](auto r) NSK_INLINE_LAMBDA { simd::store_part<Columns, r * pitch>(row[r].output + p.channel, bytes); });
}

/// Stores the lines of `count` rows, which a register of bytes has one behind the other.
template <int Vectors>
NSK_INLINE void store_lines(simd::packed_bytes bytes, int count, const quad_row* row, const quad_panel& p) {
  constexpr int pitch = Vectors * simd::f32::lanes, together = simd::packed_vectors / Vectors;
  constexpr int columns = pitch < 16 ? 8 : 16;
  if (p.columns == columns)
    return simd::unroll<together>([&](auto r) NSK_INLINE_LAMBDA {
      if (r < count) simd::store_part<columns, r * pitch>(row[r].output + p.channel, bytes);
    });
  if (p.columns == 8)
    return simd::unroll<together>([&](auto r) NSK_INLINE_LAMBDA {
      if (r < count) simd::store_part<8, r * pitch>(row[r].output + p.channel, bytes);
    });
  std::uint8_t line[sizeof bytes + 16];  // which copy_bytes reads in pieces of 16
  simd::store_packed(line, bytes);
  for (int r = 0; r < count; ++r) simd::copy_bytes(row[r].output + p.channel, line + r * pitch, p.columns);
}

/// Stores as many rows of any tile as a register of bytes holds, or `count`, an int or a constant.
template <bool Residual, int Vectors, class Count>
NSK_INLINE void store_any_quad_rows(const simd::i32 (*sum)[Vectors], const simd::f32 (&scale)[Vectors], Count count,
                                    const quad_row* row, const quad_panel& p, const quad_store& store) {
  constexpr int lanes = simd::f32::lanes, vectors = simd::packed_vectors;
  simd::f32 x[vectors];
  simd::unroll<vectors>([&](auto i) NSK_INLINE_LAMBDA {
    constexpr int r = i / Vectors, v = i % Vectors;
    x[i] = simd::zero();
    if (r >= count) return;
    x[i] = simd::mul(simd::to_f32(sum[r][v]), scale[v]);
    if constexpr (Residual) x[i] = simd::add(x[i], residual_units(store, row[r].residual + p.channel + v * lanes));
  });
  store_lines<Vectors>(simd::to_bytes(x, store.range), count, row, p);
}

/// Stores a tile whose rows have residuals or any number of columns. There is one copy for tiles of all heights.
template <bool Residual, int Vectors>
NSK_ONE_COPY inline void store_any_quad_tile(const simd::i32 (*sum)[Vectors], int rows, const quad_row* row,
                                             const quad_panel& p, const quad_store& store) {
  constexpr int together = simd::packed_vectors / Vectors;
  simd::f32 scale[Vectors];
  for (int v = 0; v < Vectors; ++v)
    scale[v] = simd::load(reinterpret_cast<const float*>(p.scale) + v * simd::f32::lanes);
  for (; rows >= together; rows -= together, sum += together, row += together)
    store_any_quad_rows<Residual>(sum, scale, std::integral_constant<int, together>{}, row, p, store);
  if (rows > 0) store_any_quad_rows<Residual>(sum, scale, rows, row, p, store);
}

/// Stores a tile.
template <int Rows, int Vectors>
NSK_INLINE void store_quad_tile(const simd::i32 (&sum)[Rows][Vectors], const simd::f32 (&scale)[Vectors],
                                const quad_row* row, const quad_panel& p, const quad_store& store) {
  using simd::unroll;
  constexpr int columns = Vectors * simd::f32::lanes < 16 ? 8 : 16, together = simd::packed_vectors / Vectors;
  if (p.columns != columns || store.residual_scale != 0) {
    simd::i32 copy[Rows][Vectors];  // which has an address, so that `sum` stays in registers
    unroll<Rows>([&](auto r)
                     NSK_INLINE_LAMBDA { unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { copy[r][v] = sum[r][v]; }); });
    return store.residual_scale != 0 ? store_any_quad_tile<true>(copy, Rows, row, p, store)
                                     : store_any_quad_tile<false>(copy, Rows, row, p, store);
  }
  unroll<(Rows + together - 1) / together>([&](auto g) NSK_INLINE_LAMBDA {
    constexpr int first = g * together, count = Rows - first < together ? Rows - first : together;
    store_quad_rows<columns, count>(sum + first, scale, row + first, p, store);
  });
}

/// What the sums of a panel begin with: biases, and what the products leave out.
template <int Vectors>
NSK_INLINE void begin_quad_sums(simd::i32 (&sum)[Vectors], const quad_runs& runs, const quad_panel& p) {
  using simd::i32;
  simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
    sum[v] = simd::load_i32(reinterpret_cast<const std::int32_t*>(p.bias) + v * i32::lanes);
  });
  if constexpr (simd::dots_leave_out) {
    const std::int8_t* weights = p.weights;
    for (int q = runs.lines * runs.columns * runs.quads; q > 0; --q, weights += std::ptrdiff_t{4} * p.width)
      simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
        sum[v] = simd::add_left_out(sum[v], simd::load_quads(weights + v * 4 * i32::lanes));
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

/// `tiles` tiles of Rows rows, one below the other. There is a store_quad_tile for each Store: this one, and that of
/// kernels/integer_conv_2d.hpp.
template <class Products, int Rows, int Vectors, class Store>
NSK_ONE_COPY inline void quad_tiles(int tiles, const quad_runs& runs, const quad_panel& panel, const quad_row* row,
                                    const Store& store) {
  using simd::f32;
  using simd::i32;
  using simd::unroll;
  if (tiles == 0) return;
  const quad_panel p = panel;
  i32 first[Vectors];
  if constexpr (simd::dots_leave_out) begin_quad_sums(first, runs, p);
  for (; tiles > 0; --tiles, row += Rows) {
    i32 sum[Rows][Vectors];
    if constexpr (!simd::dots_leave_out) begin_quad_sums(first, runs, p);  // a load is less than a register kept
    unroll<Vectors>([&](auto v)
                        NSK_INLINE_LAMBDA { unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = first[v]; }); });
    if (store.adds_to_rows) add_to_rows(sum, row);
    accumulate_quads<Products>(sum, runs, p, row);
    f32 scale[Vectors];
    unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
      scale[v] = simd::load(reinterpret_cast<const float*>(p.scale) + v * f32::lanes);
    });
    store_quad_tile(sum, scale, row, p, store);
  }
}

/// One tile of at most Rows rows; those that are missing repeat the last row, whose bytes are stored again.
template <class Products, int Rows, int Vectors, class Store>
inline void last_quad_tile(int count, const quad_runs& runs, const quad_panel& p, const quad_row* row,
                           const Store& store) {
  quad_row whole[Rows];
  for (int r = 0; r < Rows; ++r) whole[r] = row[r < count ? r : count - 1];
  quad_tiles<Products, Rows, Vectors>(1, runs, p, whole, store);
}

/// All rows of at most Vectors vectors of columns. There are tiles of three heights, each of which is code.
template <class Products, int Vectors, class Store>
NSK_ONE_COPY inline void quad_rows(int count, const quad_runs& runs, const quad_panel& p, const quad_row* row,
                                   const Store& store) {
  constexpr int rows = quad_tile_rows<Products, Vectors>(), half = (rows + 1) / 2;
  const int tiles = count / rows, left = count % rows;
  quad_tiles<Products, rows, Vectors>(tiles, runs, p, row, store);
  row += tiles * rows;
  if (left > half) return last_quad_tile<Products, rows, Vectors>(left, runs, p, row, store);
  if (left > 1) return last_quad_tile<Products, half, Vectors>(left, runs, p, row, store);
  quad_tiles<Products, 1, Vectors>(left, runs, p, row, store);
}

/// All rows of a panel, by 16 columns and what remains of a panel of 24.
template <class Products>
inline void quad_panel_rows(int count, const quad_runs& runs, const quad_panel& panel, const quad_row* row,
                            const quad_store& store) {
  constexpr int lanes = simd::i32::lanes, vectors = (panel_width + lanes - 1) / lanes,
                half_vectors = (panel_width / 2 + lanes - 1) / lanes;
  for (int done = 0; done < panel.columns; done += panel_width) {
    quad_panel p = panel;
    p.bias += 4 * done;
    p.scale += 4 * done;
    p.weights += 4 * done;
    p.channel += done;
    p.columns = panel.columns - done < panel_width ? panel.columns - done : panel_width;
    if (p.columns > panel_width / 2)
      quad_rows<Products, vectors>(count, runs, p, row, store);
    else
      quad_rows<Products, half_vectors>(count, runs, p, row, store);
  }
}

/// The part of panel `index` that is in output channels [begin, end); columns is 0 or less where there is none.
inline quad_panel quad_panel_part(const quad_weights& w, int index, int begin, int end) {
  const int width = static_cast<int>(width_of_panel(w.channels, index)), left = w.first_channel + index * panel_width;
  const int first = begin > left ? begin : left, last = end < left + width ? end : left + width;
  const std::byte* const panel = w.data + std::int64_t{4} * panel_width * index * (w.quads + 2) + 4 * (first - left);
  return {panel, panel + 4 * width, reinterpret_cast<const std::int8_t*>(panel + 8 * width), width,
          first, last - first};
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
NSK_ONE_COPY inline void quantized_gemm(int count, const quad_runs& runs, const quad_weights& w, int begin, int end,
                                        const quad_row* rows, const quad_store& store) {
  const int panels = static_cast<int>(panel_count(w.channels));
  int index = begin > w.first_channel ? (begin - w.first_channel) / panel_width : 0;
  if (index >= panels) index = panels - 1;
  for (; index < panels; ++index) {
    const impl::quad_panel p = impl::quad_panel_part(w, index, begin, end);
    if (p.columns <= 0) return;
    switch (w.products) {
      case quad_products::exact: impl::quad_panel_rows<impl::exact_quads>(count, runs, p, rows, store); break;
      case quad_products::safe: impl::quad_panel_rows<impl::safe_quads>(count, runs, p, rows, store); break;
      case quad_products::at_once: impl::quad_panel_rows<impl::quads_at_once>(count, runs, p, rows, store); break;
    }
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
