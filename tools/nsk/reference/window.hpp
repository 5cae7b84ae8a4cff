// SPDX-License-Identifier: MIT
#pragma once
/// The sliding window of convolution and pooling, over any number of spatial axes.
#include "reference/operators.hpp"

namespace nsk::tool::reference {

/// Of lengths, strides and pads, which are multiplied with each other.
inline constexpr std::int64_t max_length = std::int64_t{1} << 31;

struct window {
  shape_t input, kernel, stride, dilation, pad_begin, pad_end, output;  ///< one entry per spatial axis
  std::size_t axes() const { return kernel.size(); }
  std::int64_t reach(std::size_t d) const {
    return (kernel[d] - 1) * dilation[d] + 1;
  }  ///< positions that the kernel spans
};

/// Returns an attribute of `length` integers, each `fallback` where the node has none; refuses other lengths and
/// integers below `minimum` or above 2^31.
shape_t checked_list(const call& c, const char* name, std::size_t length, std::int64_t fallback, std::int64_t minimum);

/// Reads kernel_shape (unless `kernel` is given), strides, dilations and pads; pads of auto_pad stay 0. Checks lengths
/// and signs.
window read_window(const call& c, const shape_t& spatial, shape_t kernel);

/// Returns the attribute auto_pad; refuses unknown ones.
std::string auto_pad_of(const call& c);

/// Applies auto_pad and computes the output's spatial shape. `ceil_mode`: the last window may be cut by the far edge,
/// but must begin inside the input or its near padding.
void finish_window(const call& c, window& w, bool ceil_mode);

/// Spatial axes of [N, C, spatial...].
inline shape_t spatial_of(const shape_t& s) { return {s.begin() + 2, s.end()}; }
/// [n, c, spatial...]
shape_t with_spatial(std::int64_t n, std::int64_t c, const shape_t& spatial);

/// A tap of the kernel that falls inside the input: its row-major index in the kernel, and the row-major offset of what
/// it reads.
struct tap {
  std::int64_t index, offset;
};
/// Sets `taps` to those of the output position `at`, in the kernel's order.
void find_taps(const window& w, const shape_t& at, std::vector<tap>& taps);

}
