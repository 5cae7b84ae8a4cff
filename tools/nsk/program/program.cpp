// SPDX-License-Identifier: MIT
#include "program/program.hpp"
#include <algorithm>

namespace nsk::tool {
namespace {

std::int64_t overhang_behind(std::int64_t outputs, std::int64_t inputs, int stride, int kernel, int dilation, int pad) {
  const std::int64_t last = (outputs - 1) * stride + std::int64_t{kernel - 1} * dilation - pad;
  return std::max<std::int64_t>(0, last - (inputs - 1));
}

bool same_weights(const conv_parameters& a, const conv_parameters& b) {
  return a.groups == b.groups && a.outputs == b.outputs && a.w.kernel_h == b.w.kernel_h &&
         a.w.kernel_w == b.w.kernel_w && a.weights == b.weights && a.bias == b.bias;
}
bool same_weights(const dense_parameters& a, const dense_parameters& b) {
  return a.depth == b.depth && a.outputs == b.outputs && a.weights == b.weights && a.bias == b.bias;
}
bool same_weights(const recurrent_parameters& a, const recurrent_parameters& b) {
  return a.kind == b.kind && a.hidden == b.hidden && a.directions == b.directions && a.weights == b.weights &&
         a.bias == b.bias;
}

template <class Parameters>
bool both_have(const operation& a, const operation& b) {
  const Parameters *const x = a.as<Parameters>(), *const y = b.as<Parameters>();
  return x != nullptr && y != nullptr && same_weights(*x, *y);
}

}

bool have_same_weights(const operation& a, const operation& b) {
  return both_have<conv_parameters>(a, b) || both_have<dense_parameters>(a, b) || both_have<recurrent_parameters>(a, b);
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
