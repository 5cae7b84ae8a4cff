// SPDX-License-Identifier: MIT
#include "program/program.hpp"
#include <algorithm>

namespace nsk::tool {
namespace {

std::int64_t overhang_behind(std::int64_t outputs, std::int64_t inputs, int stride, int kernel, int dilation, int pad) {
  const std::int64_t last = (outputs - 1) * stride + std::int64_t{kernel - 1} * dilation - pad;
  return std::max<std::int64_t>(0, last - (inputs - 1));
}

}

bool program::is_output(int v) const {
  return std::find(outputs.begin(), outputs.end(), v) != outputs.end() ||
         std::any_of(states.begin(), states.end(), [&](const program_state& s) { return s.output == v; });
}

std::vector<int> program::consumers(int v) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const operation& o = operations[i];
    if (o.post.residual == v || std::find(o.inputs.begin(), o.inputs.end(), v) != o.inputs.end())
      found.push_back(static_cast<int>(i));
  }
  return found;
}

overhang window_overhang(const window& w, const shape_t& x, const shape_t& y) {
  const bool flat = x.size() == 3;
  const std::int64_t rows = flat ? 1 : x[2], result_rows = flat ? 1 : y[2];
  return {w.pad_top, w.pad_left, overhang_behind(result_rows, rows, w.stride_h, w.kernel_h, w.dilation_h, w.pad_top),
          overhang_behind(y.back(), x.back(), w.stride_w, w.kernel_w, w.dilation_w, w.pad_left)};
}

}
