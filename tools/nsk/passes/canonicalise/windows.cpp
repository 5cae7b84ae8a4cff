// SPDX-License-Identifier: MIT
#include "passes/canonicalise/windows.hpp"
#include <algorithm>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"

namespace nsk::tool::canonical {
namespace {

/// Window lengths have 16 bits in the file.
bool fits(std::int64_t v) { return v >= 0 && v <= 65535; }

}

std::vector<window_axis> window_axes(const context& c, const node& n, const shape_t& input,
                                     const std::vector<std::int64_t>& kernel, const shape_t& output) {
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
  std::vector<window_axis> axes;
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
    axes.push_back({static_cast<int>(kernel[d]), static_cast<int>(strides[d]), static_cast<int>(dilations[d]),
                    static_cast<int>(pads[d]), static_cast<int>(pads[d + dims])});
  }
  return axes;
}

spatial_window window_of(const context& c, const node& n, const shape_t& input, const std::vector<std::int64_t>& kernel,
                         const shape_t& output) {
  const std::vector<window_axis> axes = window_axes(c, n, input, kernel, output);
  const window_axis across = axes.back(), down = axes.size() == 1 ? window_axis{} : axes.front();
  spatial_window s;
  s.w.kernel_h = down.kernel;
  s.w.kernel_w = across.kernel;
  s.w.stride_h = down.stride;
  s.w.stride_w = across.stride;
  s.w.dilation_h = down.dilation;
  s.w.dilation_w = across.dilation;
  s.w.pad_top = down.before;
  s.w.pad_left = across.before;
  s.pad_bottom = down.after;
  s.pad_right = across.after;
  return s;
}

int padded_for_taps(context& c, const std::vector<window_axis>& axes, const shape_t& output, double value) {
  const shape_t& x = c.in_shape(0);
  pad_parameters p;
  p.value = value;
  p.before.assign(x.size(), 0);
  p.after.assign(x.size(), 0);
  shape_t shape = x;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const window_axis& a = axes[d];
    const std::int64_t last = (output[d + 2] - 1) * a.stride + std::int64_t{a.kernel - 1} * a.dilation;
    p.before[d + 2] = a.before;
    p.after[d + 2] = std::max<std::int64_t>(0, last + 1 - a.before - x[d + 2]);
    shape[d + 2] += p.before[d + 2] + p.after[d + 2];
  }
  if (shape == x) return c.in(0);
  const int result = c.temporary("padded", shape);
  c.emit(std::move(p), {c.in(0)}, result);
  return result;
}

int slice_of_tap(context& c, const std::vector<window_axis>& axes, int padded, const shape_t& output,
                 std::int64_t tap) {
  slice_parameters s = whole_slice(output.size());
  shape_t shape = output;
  shape[1] = c.shape(padded)[1];
  std::int64_t rest = tap;
  for (std::size_t d = axes.size(); d-- > 0; rest /= axes[d].kernel) {
    s.starts[d + 2] = rest % axes[d].kernel * axes[d].dilation;
    s.steps[d + 2] = output[d + 2] > 1 ? axes[d].stride : 1;
  }
  const int result = c.temporary("tap" + std::to_string(tap), shape);
  c.emit(std::move(s), {padded}, result);
  return result;
}

bool bias_is_computed(const context& c) { return c.has(2) && c.input(2).constant == nullptr; }

int result_before_bias(context& c, bool adds) { return adds ? c.temporary("unbiased", c.out_shape()) : c.out(); }

std::vector<double> bias_in_kernel(context& c, std::int64_t outputs) {
  if (c.has(2) && count_of(c.in_shape(2)) != outputs) c.refuse("the bias has not one value per output channel");
  const auto count = static_cast<std::size_t>(outputs);
  return c.has(2) && !bias_is_computed(c) ? numbers(c, 2, "the bias") : std::vector<double>(count, 0.0);
}

void add_bias_behind(context& c, int unbiased) {
  if (unbiased == c.out()) return;
  shape_t per_channel(c.out_shape().size(), 1);
  per_channel[1] = c.out_shape()[1];
  combine(c, binary_kind::add, unbiased, reshaped(c, c.in(2), per_channel), "", c.out());
}

namespace {

/// Whether maxima of columns, then of rows of these, compare less than half as often as windows do.
bool pays_by_axes(const window& w, const shape_t& input, const shape_t& output) {
  const std::int64_t columns = output[3] * w.kernel_w,
                     by_axes = input[3] * w.kernel_h + columns;  // for each row of results
  return columns * w.kernel_h >= 2 * by_axes;
}

void emit_pool_of_images(context& c, const spatial_window& s, int from, int result) {
  pool_2d_params p;
  p.kind = c.op().op == "MaxPool" ? pool_kind::max : pool_kind::average;
  p.w = s.w;
  p.pad_bottom = s.pad_bottom;
  p.pad_right = s.pad_right;
  p.count_include_pad = c.op().integer("count_include_pad", 0) != 0;
  c.emit(std::move(p), {from}, result);
}

/// Pools the maxima of images with one axis of the window at a time.
void emit_maxima_by_axes(context& c, const spatial_window& s, int from, int result) {
  spatial_window down = s, along = s;
  down.w.kernel_w = down.w.stride_w = down.w.dilation_w = along.w.kernel_h = along.w.stride_h = along.w.dilation_h = 1;
  down.w.pad_left = down.pad_right = along.w.pad_top = along.pad_bottom = 0;
  shape_t shape = c.shape(from);
  shape[2] = c.shape(result)[2];
  const int columns = c.temporary("columns", std::move(shape), c.type(from));
  emit_pool_of_images(c, down, from, columns);
  emit_pool_of_images(c, along, columns, result);
}

}

void emit_pool(context& c, const spatial_window& s, int from, int result) {
  const overhang around = window_overhang(s.w, c.shape(from), c.shape(result));
  const std::int64_t reach_h = std::int64_t{s.w.kernel_h - 1} * s.w.dilation_h,
                     reach_w = std::int64_t{s.w.kernel_w - 1} * s.w.dilation_w;
  if (around.top > reach_h || around.left > reach_w || around.bottom > reach_h || around.right > reach_w)
    c.refuse("its first or last windows are in the padding alone; make the pads smaller than the kernel");
  const bool images = c.shape(from).size() == 4;
  if (images && c.op().op == "MaxPool" && pays_by_axes(s.w, c.shape(from), c.shape(result)))
    return emit_maxima_by_axes(c, s, from, result);
  emit_pool_of_images(c, s, from, result);
}
}
