// SPDX-License-Identifier: MIT
#pragma once
/// What happens to results between the accumulators and memory: residual, function, store.
///
/// A residual, and clip, hard_swish, prelu or leaky_relu, are done in registers. Other functions are computed in place
/// behind a few stored tiles, by one compact loop per function (function_lines.hpp), so that no kernel carries their
/// code. What fits neither (a residual behind the function, rows or columns that are not whole tiles) goes through a
/// block on the stack.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/function_lines.hpp>
#include <netsuke/kernels/path.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
/// One row of a register tile: its first input element (not used here), and where channel 0 of output and residual are
/// (residual is not read without one).
struct tile_row {
  const float* input;
  float* output;
  const float* residual;
};

/// What a register tile does to its results before it stores them: adds a residual whose channels are contiguous, then
/// applies one of clip to [low, high], hard_swish, and prelu: negative ones times slopes[channel], or times `low` where
/// there are no slopes. There is code for the functions of the kernels only.
template <class Kernels>
struct register_epilogue {
  bool adds = false, clips = false, swishes = false, leaks = false;
  float low = 0, high = 0;
  const float* slopes = nullptr;
};

namespace impl {
/// Whether register_epilogue has a function: clip between plain bounds only.
constexpr bool is_done_in_registers(function f) {
  return f == function::identity || f == function::clip || f == function::hard_swish || f == function::prelu ||
         f == function::leaky_relu;
}
/// Whether kernels have functions that register_epilogue has not.
template <class Kernels>
constexpr bool maps_functions() {
  bool maps = false;
  for (int f = 0; f < function_count; ++f)
    maps = maps || (Kernels::has(static_cast<function>(f)) && !is_done_in_registers(static_cast<function>(f)));
  return maps;
}
}

/// An epilogue as inner loops want it.
template <class Kernels>
struct tile_epilogue {
  const epilogue* e;
  std::ptrdiff_t residual_stride;          ///< elements between channels of the residual
  bool in_registers;                       ///< whether `registers` is the whole epilogue
  bool in_place;                           ///< whether map_rows is what is left behind `registers`: ask maps()
  register_epilogue<Kernels> registers{};  ///< does nothing where results wait in a block

  /// Whether tiles are stored and then mapped; known to the compiler where the kernels have no such function.
  constexpr bool maps() const { return impl::maps_functions<Kernels>() && in_place; }
  /// Whether tiles are stored where their results go; if not, they go through finish_block.
  constexpr bool stores_tiles() const { return in_registers || maps(); }
};
template <class Kernels>
inline tile_epilogue<Kernels> prepare(const epilogue& e, int rank) {
  const std::ptrdiff_t stride = rank > 0 ? e.residual_stride[rank - 1] : 1;
  const bool adds = e.residual != nullptr, swishes = e.fn == function::hard_swish;
  const bool clips = e.fn == function::clip && simd::has_plain_bounds(e.alpha, e.beta);
  const bool leaks = e.fn == function::prelu || e.fn == function::leaky_relu;
  const bool late = e.activation_first && e.fn != function::identity;
  const bool fast = e.fn == function::clip ? clips : impl::is_done_in_registers(e.fn),
             plain = !adds || (stride == 1 && !late);
  tile_epilogue<Kernels> t{&e, stride, fast && plain, !fast && plain};
  if (plain) t.registers = {adds, clips, swishes, leaks, e.alpha, e.beta, e.fn == function::prelu ? e.slope : nullptr};
  return t;
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

/// Adds residuals to the first `columns` of `rows` lines of a block.
NSK_ONE_COPY inline void add_residuals(float* block, int rows, int width, std::ptrdiff_t stride, const tile_row* row,
                                       int channel, int columns) {
  for (int r = 0; r < rows; ++r) {
    float* const line = block + r * width;
    const float* const residual = row[r].residual + channel * stride;
    if (stride == 1)
      for_registers(columns, [&](int c, int n) NSK_INLINE_LAMBDA {
        const f32 add = n == f32::lanes ? simd::load(residual + c) : simd::load_partial(residual + c, n);
        simd::store(line + c, simd::add(simd::load(line + c), add));
      });
    else
      for (int c = 0; c < columns; ++c) line[c] += residual[c * stride];
  }
}
/// prelu: x < 0 ? slope * x : x, for `rows` lines of whole registers. `slope` is that of the first column.
NSK_ONE_COPY inline void apply_slopes(float* block, int rows, int width, const float* slope) {
  for (int c = 0; c < width; c += f32::lanes) {
    const f32 s = simd::load(slope + c);
    for (int r = 0; r < rows; ++r) {
      float* const x = block + r * width + c;
      simd::store(x, math::leaky_relu(simd::load(x), s));
    }
  }
}
/// Returns how far apart the outputs of all rows are, in floats; 0 where they are not equally spaced.
inline std::ptrdiff_t spacing(const tile_row* row, int rows) {
  const std::ptrdiff_t stride = rows > 1 ? row[1].output - row[0].output : 1;
  for (int r = 2; r < rows; ++r)
    if (row[r].output - row[r - 1].output != stride) return 0;
  return stride;
}
/// Stores the first `columns` of `rows` lines of a block.
NSK_ONE_COPY inline void store_block(const float* block, int rows, int width, const tile_row* row, int channel,
                                     int columns) {
  for (int r = 0; r < rows; ++r) {
    const float* const from = block + r * width;
    float* const to = row[r].output + channel;
    for_registers(columns, [&](int c, int n) NSK_INLINE_LAMBDA {
      n == f32::lanes ? simd::store(to + c, simd::load(from + c))
                      : simd::store_partial(to + c, n, simd::load(from + c));
    });
  }
}

}

/// Applies the epilogue to `rows` lines of `width` floats (whole registers) and stores their first `columns`. Row r
/// goes to row[r].output + channel; its residual begins at row[r].residual, counted from channel 0. The block is used
/// up.
template <class Kernels>
NSK_ONE_COPY inline void finish_block(float* block, int rows, int width, const tile_epilogue<Kernels>& t,
                                      const tile_row* row, int channel, int columns) {
  const epilogue& e = *t.e;
  const bool adds = e.residual != nullptr;
  if (adds && !e.activation_first) impl::add_residuals(block, rows, width, t.residual_stride, row, channel, columns);
  if (e.fn == function::prelu) {
    if constexpr (Kernels::has(function::prelu)) impl::apply_slopes(block, rows, width, e.slope + channel);
  } else if (e.fn != function::identity) {
    const std::ptrdiff_t stride = impl::spacing(row, rows);
    const bool direct = !(adds && e.activation_first) && stride != 0;
    const std::ptrdiff_t all = std::ptrdiff_t{rows} * width;
    if (direct)
      return impl::map_lines<Kernels>(e, {block, width, false}, {row[0].output + channel, stride}, {rows, columns});
    impl::map_lines<Kernels>(e, {block, all, false}, {block, all}, {1, all});
  }
  if (adds && e.activation_first) impl::add_residuals(block, rows, width, t.residual_stride, row, channel, columns);
  impl::store_block(block, rows, width, row, channel, columns);
}

/// Computes the function of the epilogue in place, in columns [channel, channel + columns) of the outputs of rows.
template <class Kernels>
NSK_ONE_COPY inline void map_rows(const epilogue& e, const tile_row* row, int rows, int channel, int columns) {
  for (int begin = 0, end; begin < rows; begin = end) {
    float* const first = row[begin].output + channel;
    const std::ptrdiff_t stride = begin + 1 < rows ? row[begin + 1].output - row[begin].output : 0;
    for (end = begin + 1; end < rows && row[end].output - row[end - 1].output == stride;) ++end;
    impl::map_lines<Kernels>(e, {first, stride, false}, {first, stride}, {end - begin, columns});
  }
}

/// Applies the function of a register tile, whose numbers are sums that were rounded.
template <class Kernels, int Rows, int Vectors>
NSK_INLINE void apply_in_registers(simd::f32 (&sum)[Rows][Vectors], const register_epilogue<Kernels>& e, int channel) {
  using simd::f32, simd::unroll;
  [[maybe_unused]] const auto each = [&](auto f) NSK_INLINE_LAMBDA {
    unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
      unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { sum[r][v] = f(sum[r][v]); });
    });
  };
  if constexpr (Kernels::has(function::clip)) {
    const f32 low = simd::splat(e.low), high = simd::splat(e.high);
    if (e.clips) return each([&](f32 x) NSK_INLINE_LAMBDA { return simd::clamp_result(x, low, high); });
  }
  if constexpr (Kernels::has(function::hard_swish)) {
    if (e.swishes) return each([](f32 x) NSK_INLINE_LAMBDA { return math::hard_swish(x); });
  }
  if constexpr (Kernels::has(function::prelu) || Kernels::has(function::leaky_relu)) {
    if (!e.leaks) return;
    unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
      const f32 slope = e.slopes == nullptr ? simd::splat(e.low) : simd::load(e.slopes + channel + v * f32::lanes);
      unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][v] = math::leaky_relu(sum[r][v], slope); });
    });
  }
}

/// Finishes a register tile and stores it: row r goes to place(r).output + channel; place(r) is a tile_row. Columns
/// lack less than a register; with Low the last register holds at most 8, and no more are stored.
template <bool Low = false, class Kernels, int Rows, int Vectors, class Place>
NSK_INLINE void store_tile_at(simd::f32 (&sum)[Rows][Vectors], const register_epilogue<Kernels>& e, Place place,
                              int channel, int columns) {
  using simd::f32, simd::unroll;
  if (e.adds)
    unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
      unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
        sum[r][v] = simd::add(sum[r][v], simd::load(place(r).residual + channel + v * f32::lanes));
      });
    });
  apply_in_registers(sum, e, channel);
  constexpr int whole = (Vectors - 1) * f32::lanes;
  unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
    unroll<Vectors - 1>([&](auto v)
                            NSK_INLINE_LAMBDA { simd::store(place(r).output + channel + v * f32::lanes, sum[r][v]); });
  });
  const bool is_full = !simd::tuning::stores_parts && columns == Vectors * f32::lanes;
  if (is_full)
    unroll<Rows>([&](auto r)
                     NSK_INLINE_LAMBDA { simd::store(place(r).output + channel + whole, sum[r][Vectors - 1]); });
  else
    unroll<Rows>([&](auto r) NSK_INLINE_LAMBDA {
      float* const last = place(r).output + channel + whole;
      Low ? simd::store_partial_low(last, columns - whole, sum[r][Vectors - 1])
          : simd::store_partial(last, columns - whole, sum[r][Vectors - 1]);
    });
}
template <bool Low = false, class Kernels, int Rows, int Vectors>
NSK_INLINE void store_tile(simd::f32 (&sum)[Rows][Vectors], const register_epilogue<Kernels>& e, const tile_row* row,
                           int channel, int columns) {
  store_tile_at<Low>(
      sum, e, [&](auto r) NSK_INLINE_LAMBDA -> const tile_row& { return row[r]; }, channel, columns);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
