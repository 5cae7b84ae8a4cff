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

/// Strides, dilations, pads and auto_pad of a node, for one or two spatial axes and a kernel of these lengths.
/// `attributes` is the context's node, or one like it with the attributes of some of its axes.
spatial_window window_of(const context& c, const node& attributes, const shape_t& input,
                         const std::vector<std::int64_t>& kernel, const shape_t& output);
/// Pools `from` into `result`; refuses windows that see nothing but padding.
void emit_pool(context& c, const spatial_window& s, int from, int result);

/// Rewrites a convolution or pooling of [N, C, depth, H, W].
void convolve_volume(context& c);
void pool_volume(context& c);

}
