// SPDX-License-Identifier: MIT
#pragma once
/// Which kernels for speed alone a program has: each computes what a general one computes, with the same bits.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/op.hpp>
#include <netsuke/format/window.hpp>

NSK_BEGIN
/// Windows for which there is code of its own. Of depthwise convolution, square ones without dilation, by their stride
/// along rows; size_3_in_pairs are those of size_3 over channels that fill registers of 16 by half
/// (depthwise/paths/pixel_pairs.hpp), and `wide` those of 7 pixels along rows or more, with a stride of 1. small_groups
/// are windows of convolutions with 2, 4 or 8 channels to a group (conv/paths/small_groups.hpp); few_outputs those of
/// convolutions, and rows of fully connected layers, to 1 to 4 channels (conv/paths/few_outputs.hpp); rgb those of
/// convolutions of 3 channels to more than 8, of up to 9 taps, with a stride along rows of 1 or 2
/// (conv/paths/rgb.hpp).
enum class kernel_window : std::uint8_t {
  size_3,
  size_3_stride_2,
  size_5,
  size_5_stride_2,
  size_3_in_pairs,
  wide,
  small_groups,
  few_outputs,
  rgb
};
inline constexpr int kernel_window_count = 9;

/// A set of such windows.
template <kernel_window... Windows>
struct kernel_window_list {
  static constexpr bool has([[maybe_unused]] kernel_window w) { return ((w == Windows) || ...); }
};
using all_kernel_windows =
    kernel_window_list<kernel_window::size_3, kernel_window::size_3_stride_2, kernel_window::size_5,
                       kernel_window::size_5_stride_2, kernel_window::size_3_in_pairs, kernel_window::wide,
                       kernel_window::small_groups, kernel_window::few_outputs, kernel_window::rgb>;

namespace kernels {

/// What a kernel may be told in place of a list of functions: the list, and which variants there is code for. `Windows`
/// has a bit for each kernel_window. A kernel that is told a list alone has all variants.
template <class Functions, unsigned Windows, bool PanelPairs, bool PrefetchWeights>
struct kernel_set : Functions {};

namespace impl {

inline constexpr unsigned every_kernel_window = (1u << kernel_window_count) - 1;

/// The variants that a list of functions or a kernel set stands for; `without_functions` has the same and no functions.
template <class Functions>
struct variants_of {
  static constexpr unsigned windows = every_kernel_window;
  static constexpr bool panel_pairs = true, prefetch_weights = true;
  using without_functions = function_list<>;
};
template <class Functions, unsigned Windows, bool PanelPairs, bool PrefetchWeights>
struct variants_of<kernel_set<Functions, Windows, PanelPairs, PrefetchWeights>> {
  static constexpr unsigned windows = Windows;
  static constexpr bool panel_pairs = PanelPairs, prefetch_weights = PrefetchWeights;
  using without_functions = kernel_set<function_list<>, Windows, PanelPairs, PrefetchWeights>;
};

/// Returns the number of the kernel_window with a kernel of 3 or 5 and a stride along rows of 1 or 2.
constexpr int depthwise_window_of(int kernel, int stride) { return (kernel == 5 ? 2 : 0) + stride - 1; }
/// Returns the number of the kernel_window that `w` is; -1 where it is none.
inline int depthwise_window_of(const window& w) {
  const bool square = w.kernel_w == w.kernel_h && w.dilation_h == 1 && w.dilation_w == 1;
  const bool known = (w.kernel_h == 3 || w.kernel_h == 5) && w.stride_w <= 2;
  return square && known ? depthwise_window_of(w.kernel_h, w.stride_w) : -1;
}
/// Whether there is code for the kernel_window of a number.
template <class Functions>
constexpr bool has_kernel_window(int number) {
  return (variants_of<Functions>::windows >> number & 1u) != 0;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
