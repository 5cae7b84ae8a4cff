// SPDX-License-Identifier: MIT
#pragma once
/// Windows of convolution and pooling.
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

struct spatial_window {
  window w;
  int pad_bottom = 0, pad_right = 0;
};

/// One spatial axis of a window.
struct window_axis {
  int kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;  ///< before, after: pads
};

/// Strides, dilations, pads and auto_pad of a node, for any number of spatial axes and a kernel of these lengths.
std::vector<window_axis> window_axes(const context& c, const node& attributes, const shape_t& input,
                                     const std::vector<std::int64_t>& kernel, const shape_t& output);
/// window_axes() as one window, for one or two spatial axes.
/// `attributes` is the context's node, or one like it with the attributes of some of its axes.
spatial_window window_of(const context& c, const node& attributes, const shape_t& input,
                         const std::vector<std::int64_t>& kernel, const shape_t& output);
/// Input 0 with `value` around it, as far as windows that make `output` read.
int padded_for_taps(context& c, const std::vector<window_axis>& axes, const shape_t& output, double value);
/// What tap `tap` of the kernel reads of that, [N, C, the output's lengths].
int slice_of_tap(context& c, const std::vector<window_axis>& axes, int padded, const shape_t& output, std::int64_t tap);

/// Pools `from` into `result`; refuses windows that see nothing but padding.
void emit_pool(context& c, const spatial_window& s, int from, int result);

/// Whether the bias is computed. A convolution's kernel cannot add it then.
bool bias_is_computed(const context& c);
/// Where a convolution puts its result: output 0, or with `adds` a value to which add_bias_behind adds the bias.
int result_before_bias(context& c, bool adds);
/// Adds the bias to `unbiased` where that is not output 0.
void add_bias_behind(context& c, int unbiased);
/// The bias that a kernel adds: zeros where there is none, or where it is computed.
std::vector<double> bias_in_kernel(context& c, std::int64_t outputs);

/// Rewrites a convolution whose weights are computed, with one to three spatial axes.
void convolve_by_computed_weights(context& c);
/// Patches [N, positions, taps, C] times the weights, input 1 of the node, as [N, groups, outputs, positions].
int patches_times_weights(context& c, int patches, std::int64_t groups);
/// Rewrites a max-pooling whose indices are read.
void pool_with_indices(context& c);
/// Rewrites MaxUnpool: maxima back to where a pool found them. The indices count in the shape that the pool's
/// attributes lead back to; what output_shape adds is behind it along each axis.
void max_unpool(context& c);
/// Rewrites a convolution or pooling of [N, C, depth, H, W].
void convolve_volume(context& c);
void pool_volume(context& c, int result);
/// Pools input 0, of one to three spatial axes, into `result`.
void write_pool(context& c, int result);

}
