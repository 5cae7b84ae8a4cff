// SPDX-License-Identifier: MIT
#pragma once
/// What decides the fast path of a convolution.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/window.hpp>
#include <netsuke/kernels/path.hpp>

NSK_BEGIN
namespace kernels {

/// A convolution as its paths see it: `direct` by windows, with panels of float32 weights or narrower ones.
struct conv_2d_layer {
  window w;
  int groups, input_channels, output_channels;
  bool direct = true, float32 = true;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
