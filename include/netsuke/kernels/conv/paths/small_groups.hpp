// SPDX-License-Identifier: MIT
#pragma once
/// Convolution with 2, 4 or 8 channels to a group, fewer than a register has: one register holds the outputs of several
/// groups, and one load the inputs of all of them, of which each output takes those of its group.
///
/// Weights are collected from the panels of the groups, k by k, into a block on the stack. Each output stays the same
/// chain: its bias, then k in ascending order.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/kernels/conv/conv_2d_layer.hpp>
#include <netsuke/kernels/conv/paths/general.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// A weight of a matrix of one register of columns, in groups of Size: each step of k is a product of one input of each
/// group. The depth of the matrix counts the inputs of all groups.
template <int Size>
struct in_groups {
  float value;
};

/// Maximum number of taps of a window: weights and patches are on the stack.
inline constexpr int max_group_taps = 9;

/// Whether a convolution is computed so: registers hold several groups, and it has at least one register of outputs.
constexpr bool suits_small_groups(const conv_2d_layer& l, const vector_registers& r) {
  const int size = l.output_channels / l.groups;
  return l.direct && l.float32 && l.groups > 1 && (size == 2 || size == 4 || size == 8) && size < r.lanes &&
         l.w.kernel_h * l.w.kernel_w <= max_group_taps && l.input_channels == l.output_channels &&
         l.output_channels >= r.lanes;
}

/// The biases and weights of one register of outputs, of as many groups as it holds.
template <int Size>
struct group_block {
  static constexpr int lanes = simd::f32::lanes;
  alignas(64) in_groups<Size> data[(max_group_taps * Size + 1) * lanes];

  /// Collects those of the groups from output channel `channel` on, of `depth` weights a column.
  void collect(const float* panels, int channel, int depth) {
    const std::ptrdiff_t width = width_of_panel(Size, 0);
    const float* from = panels + channel / Size * width * (depth + 1);
    for (int column = 0; column < lanes; column += Size)
      for (int k = 0; k <= depth; ++k, from += width)
        std::memcpy(data + k * lanes + column, from, Size * sizeof(float));
  }
};

/// Rows of a tile: chains that hide the latency of a multiply-add, and the weights of one tap, fill the registers.
inline constexpr int group_rows = simd::f32::registers >= 32 ? 12 : 8;

/// group_rows rows by one register of groups.
template <int Size, class Kernels>
NSK_ONE_COPY inline void group_tile(const gemm_runs& runs, const in_groups<Size>* weights, const tile_row* row,
                                    int channel, const register_epilogue<Kernels>& e) {
  using simd::f32, simd::unroll;
  f32 sum[group_rows][1];
  const f32 bias = simd::load(&weights->value);
  unroll<group_rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][0] = bias; });
  weights += f32::lanes;
  for (int y = 0; y < runs.lines; ++y) {
    for (int x = 0; x < runs.columns; ++x) {
      std::ptrdiff_t k = y * runs.line_stride + x * runs.column_stride;
      for (const std::ptrdiff_t end = k + runs.length; k < end; k += f32::lanes, weights += Size * f32::lanes) {
        f32 w[Size];
        unroll<Size>([&](auto i) NSK_INLINE_LAMBDA { w[i] = simd::load(&weights[i * f32::lanes].value); });
        unroll<group_rows>([&](auto r) NSK_INLINE_LAMBDA {
          const f32 a = simd::load(row[r].input + k);
          unroll<Size>([&](auto i) NSK_INLINE_LAMBDA {
            sum[r][0] = simd::fma(simd::spread<Size, decltype(i)::value>(a), w[i], sum[r][0]);
          });
        });
      }
    }
  }
  store_tile(sum, e, row, channel, f32::lanes);
}

}

/// Rows of inputs of several groups times their weights: what convolution calls for this type of weights.
template <class Kernels, int Size>
NSK_ONE_COPY inline void gemm(int count, const gemm_runs& runs, const gemm_weights<impl::in_groups<Size>>& w, int, int,
                              const tile_row* rows, const tile_epilogue<Kernels>& e) {
  using impl::group_rows;
  const auto tile = [&](const tile_row* row, int some) NSK_INLINE_LAMBDA {
    impl::tile_under_epilogue<group_rows, simd::f32::lanes>(
        row, some, w.first_channel, e, [&](const tile_row* to, int channel, const auto& registers) NSK_INLINE_LAMBDA {
          impl::group_tile(runs, w.data, to, channel, registers);
        });
  };
  for (; count >= group_rows; count -= group_rows, rows += group_rows) tile(rows, group_rows);
  if (count == 0) return;
  tile_row row[group_rows];
  for (int r = 0; r < group_rows; ++r) row[r] = rows[r < count ? r : count - 1];
  tile(row, count);
}

namespace impl {

/// The channels of a tile that are whole registers of groups of Size; returns the first channel that is left.
template <class Kernels, int Size>
NSK_ONE_COPY inline int convolve_small_groups(const conv_2d_args& a, const tile_range& t) {
  int c = t.channel_begin;
  if constexpr (Size < simd::f32::lanes) {
    constexpr int lanes = simd::f32::lanes;
    Kernels::took(fast_path::small_groups);
    const int taps = a.w.kernel_h * a.w.kernel_w;
    alignas(64) float patches[max_tile_rows * max_group_taps * lanes];
    group_block<Size> block;
    for (; c + lanes <= t.channel_end; c += lanes) {
      block.collect(static_cast<const float*>(a.weights), c, taps * Size);
      const gemm_weights<in_groups<Size>> w{block.data, lanes, taps * lanes, c};
      convolve_channels<Kernels>(a, t, w, lanes, c, c, c + lanes, patches);
    }
  }
  return c;
}
/// Computes those channels by the size of the groups: 2, 4 or 8. Returns the first channel that is left.
template <class Kernels>
inline int convolve_small_groups(const conv_2d_args& a, const tile_range& t) {
  const int size = a.output.shape[3] / a.groups;
  if (size == 2) return convolve_small_groups<Kernels, 2>(a, t);
  if (size == 4) return convolve_small_groups<Kernels, 4>(a, t);
  return convolve_small_groups<Kernels, 8>(a, t);
}

}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
