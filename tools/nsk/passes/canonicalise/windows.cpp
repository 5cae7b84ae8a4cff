// SPDX-License-Identifier: MIT
#include "passes/canonicalise/windows.hpp"
#include <algorithm>

namespace nsk::tool::canonical {
namespace {

/// Window lengths have 16 bits in the file.
bool fits(std::int64_t v) { return v >= 0 && v <= 65535; }

}

spatial_window window_of(const context& c, const node& n, const shape_t& input, const std::vector<std::int64_t>& kernel,
                         const shape_t& output) {
  const std::size_t dims = input.size() - 2;
  if (kernel.size() != dims)
    c.refuse("kernel_shape has " + std::to_string(kernel.size()) + " lengths for " + std::to_string(dims) +
             " spatial axes");
  std::vector<std::int64_t> strides = n.integers("strides", std::vector<std::int64_t>(dims, 1));
  std::vector<std::int64_t> dilations = n.integers("dilations", std::vector<std::int64_t>(dims, 1));
  std::vector<std::int64_t> pads = n.integers("pads", std::vector<std::int64_t>(2 * dims, 0));
  const std::string auto_pad = n.text("auto_pad", "NOTSET");
  if (strides.size() != dims || dilations.size() != dims || pads.size() != 2 * dims)
    c.refuse("strides, dilations or pads have the wrong length");
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t extent = (kernel[d] - 1) * dilations[d] + 1;
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      const std::int64_t total = std::max<std::int64_t>(0, (output[d + 2] - 1) * strides[d] + extent - input[d + 2]);
      pads[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      pads[d + dims] = total - pads[d];
    } else if (auto_pad == "VALID") {
      pads[d] = pads[d + dims] = 0;
    }
    if (!fits(kernel[d]) || !fits(strides[d]) || !fits(dilations[d]) || !fits(pads[d]) || !fits(pads[d + dims]) ||
        kernel[d] < 1 || strides[d] < 1 || dilations[d] < 1)
      c.refuse("a kernel, stride, dilation or pad is negative, zero or above 65535");
  }
  spatial_window s;
  const bool flat = dims == 1;
  s.w.kernel_h = flat ? 1 : static_cast<int>(kernel[0]);
  s.w.kernel_w = static_cast<int>(kernel[flat ? 0 : 1]);
  s.w.stride_h = flat ? 1 : static_cast<int>(strides[0]);
  s.w.stride_w = static_cast<int>(strides[flat ? 0 : 1]);
  s.w.dilation_h = flat ? 1 : static_cast<int>(dilations[0]);
  s.w.dilation_w = static_cast<int>(dilations[flat ? 0 : 1]);
  s.w.pad_top = flat ? 0 : static_cast<int>(pads[0]);
  s.w.pad_left = static_cast<int>(pads[flat ? 0 : 1]);
  s.pad_bottom = flat ? 0 : static_cast<int>(pads[dims]);
  s.pad_right = static_cast<int>(pads[flat ? 1 : 3]);
  return s;
}

void emit_pool(context& c, const spatial_window& s, int from, int result) {
  const node& n = c.op();
  const overhang around = window_overhang(s.w, c.shape(from), c.shape(result));
  const std::int64_t reach_h = std::int64_t{s.w.kernel_h - 1} * s.w.dilation_h,
                     reach_w = std::int64_t{s.w.kernel_w - 1} * s.w.dilation_w;
  if (around.top > reach_h || around.left > reach_w || around.bottom > reach_h || around.right > reach_w)
    c.refuse("its first or last windows are in the padding alone; make the pads smaller than the kernel");
  pool_2d_params p;
  p.kind = n.op == "MaxPool" ? pool_kind::max : pool_kind::average;
  p.w = s.w;
  p.pad_bottom = s.pad_bottom;
  p.pad_right = s.pad_right;
  p.count_include_pad = n.integer("count_include_pad", 0) != 0;
  c.emit(std::move(p), {from}, result);
}
}
