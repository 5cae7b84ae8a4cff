// SPDX-License-Identifier: MIT
#pragma once
/// Depthwise convolution of two neighbouring pixels as if they were one of twice the channels, where the last register
/// of a pixel would be half empty: 24 channels of two pixels are three registers of 16 instead of four.
///
/// Channels of neighbours follow each other in memory, so that a register may hold the end of one pixel and the
/// beginning of the next, if its taps are those of both: weights stand twice, in a block on the stack. The next output
/// is two input pixels further, as with a stride of 2. Each output stays the same chain.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <netsuke/kernels/depthwise/depthwise_tile.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Whether there are pairs: under 3x3 windows with a stride of 1, where a register is a panel of weights.
template <class Functions, class Weight>
constexpr bool has_pixel_pairs() {
  return keeps_taps && simd::f32::lanes == panel_width && std::is_same<Weight, float>::value &&
         has_kernel_window<Functions>(static_cast<int>(kernel_window::size_3_in_pairs));
}

/// Channels up to which one register less is worth it, outputs that repay the copy of the weights, and pairs of a tile.
inline constexpr int max_pair_channels = 56, min_pair_outputs = 256, pairs_of_tile = 4;

/// Whether a layer of that many channels is computed in pairs where it can be.
inline bool suits_pixel_pairs(const window& w, std::int64_t channels) {
  return depthwise_window_of(w) == depthwise_window_of(3, 1) && w.stride_h == 1 &&
         channels % panel_width == panel_width / 2 && channels <= max_pair_channels;
}

/// Whether the outputs of a block are computed in pairs: its windows are inside, and tiles cover it without overlap
/// along rows, nor down them where there is a residual, which may be the output.
template <class Functions>
inline bool takes_pixel_pairs(const depthwise_call<Functions, float>& d, const tile_epilogue<Functions>& e,
                              const pixel_block& b) {
  const depthwise_conv_2d_args& a = *d.a;
  const int channels = d.channels, across = b.across(), down = b.down();
  const bool adds = a.e.residual != nullptr;
  if (!suits_pixel_pairs(a.w, channels)) return false;
  if (d.channel_end - d.channel_begin != channels || d.pixel != channels || a.output.stride[2] != channels ||
      (adds && a.e.residual_stride[2] != channels))
    return false;
  if (across % (2 * pairs_of_tile) != 0 || down < 2 || (adds && down % 2 != 0)) return false;
  return across * down >= min_pair_outputs && e.in_registers && e.registers.slopes == nullptr;
}

/// Writes the panels of all channels twice, as those of one layer of twice the channels.
template <class Functions>
inline void repeat_panels(const depthwise_call<Functions, float>& d, float* to) {
  constexpr int half = panel_width / 2;
  const int last = static_cast<int>(panel_count(d.channels)) - 1;
  for (int i = 0; i < 2 * d.channels; i += half) {
    const int c = i % d.channels, panel = c / panel_width < last ? c / panel_width : last;
    const float* from = column_of(d, panel, c).bias;
    float* next = to + i / panel_width * panel_width * (d.taps + 1) + i % panel_width;
    for (int k = 0; k <= d.taps; ++k, from += width_of_panel(d.channels, panel), next += panel_width)
      std::memcpy(next, from, half * sizeof(float));
  }
}

/// The outputs of a block that takes pairs.
template <class Functions>
NSK_ONE_COPY inline void depthwise_pixel_pairs(const depthwise_call<Functions, float>& d, const depthwise_image& m,
                                               const pixel_block& b) {
  alignas(64) float weights[2 * max_pair_channels * (3 * 3 + 1)];
  repeat_panels(d, weights);
  depthwise_call<Functions, float> pairs = d;
  pairs.weights = weights;
  pairs.channels = pairs.channel_end = 2 * d.channels;
  for (int row = b.y; row < b.y_end; row += 2) {
    const int y = row + 2 <= b.y_end ? row : b.y_end - 2;
    output_grid to = outputs_from(*d.a, m, y, b.x);
    to.pixel *= 2;
    to.residual_pixel *= 2;
    depthwise_strip<3, 2, 2, pairs_of_tile, 1>(pairs, first_tap(d, m, y, b.x), b.across() / 2, to);
  }
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
