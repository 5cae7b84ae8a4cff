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
#include <netsuke/kernels/product/gemm.hpp>
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

/// Channels to a group of a convolution that is computed so on some instruction set; 0 where it is none.
inline int size_of_small_groups(const window& w, int groups, int input_channels, int output_channels) {
  const int size = output_channels / groups;
  const bool listed = size == 2 || size == 4 || size == 8, few = w.kernel_h * w.kernel_w <= max_group_taps;
  return groups > 1 && listed && few && input_channels == output_channels ? size : 0;
}
/// Whether there is code for groups of Size.
template <class Functions, int Size>
inline constexpr bool has_small_groups =
    Size < simd::f32::lanes&& has_kernel_window<Functions>(static_cast<int>(kernel_window::small_groups));

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
template <int Size, class Functions>
NSK_ONE_COPY inline void group_tile(const gemm_runs& runs, const in_groups<Size>* weights, const tile_row* row,
                                    int channel, const register_epilogue<Functions>& e) {
  using simd::f32, simd::unroll;
  f32 sum[group_rows][1];
  const f32 bias = simd::load(&weights->value);
  unroll<group_rows>([&](auto r) NSK_INLINE_LAMBDA { sum[r][0] = bias; });
  weights += f32::lanes;
  for (int y = 0; y < runs.lines; ++y) {
    for (int x = 0; x < runs.columns; ++x) {
      std::ptrdiff_t k = y * runs.line_step + x * runs.column_step;
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
template <class Functions, int Size>
NSK_ONE_COPY inline void gemm(int count, const gemm_runs& runs, const gemm_weights<impl::in_groups<Size>>& w, int, int,
                              const tile_row* rows, const tile_epilogue<Functions>& e) {
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

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
