// SPDX-License-Identifier: MIT
/// Three spatial axes: the first one is taken apart, what remains are images.
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/windows.hpp"

namespace nsk::tool::canonical {
namespace {

/// The node with attributes of `count` of its three spatial axes, from `first` on.
node with_axes(const node& n, std::size_t first, std::size_t count) {
  node part = n;
  const auto at = static_cast<std::ptrdiff_t>(first), length = static_cast<std::ptrdiff_t>(count);
  for (const char* key : {"strides", "dilations", "pads", "kernel_shape"}) {
    const std::vector<std::int64_t> all = n.integers(key);
    if (all.size() < 3) continue;
    std::vector<std::int64_t> some(all.begin() + at, all.begin() + at + length);
    if (all.size() == 6) some.insert(some.end(), all.begin() + 3 + at, all.begin() + 3 + at + length);
    part.attributes[key] = some;
  }
  return part;
}

/// x [N, C, depth, H, W] with the first two axes of the rest swapped.
int swapped(context& c, int x, const std::string& suffix) {
  std::vector<int> permutation = {0, 2, 1};
  for (int d = 3; d < static_cast<int>(c.shape(x).size()); ++d) permutation.push_back(d);
  return transposed(c, x, permutation, suffix);
}

/// Images in the depth of a kernel: each becomes a convolution of its own.
constexpr std::size_t max_kernel_depth = 256;

}

/// The sum over the kernel's depth of convolutions of images.
void convolve_volume(context& c) {
  const node& n = c.op();
  const shape_t &x = c.in_shape(0), &w = c.in_shape(1), &y = c.out_shape();
  if (w.size() != 5) c.refuse("channels, groups and weights disagree");
  const spatial_window deep = window_of(c, with_axes(n, 0, 1), {x[0], x[1], x[2]}, {w[2]}, {y[0], y[1], y[2]}),
                       flat = window_of(c, with_axes(n, 1, 2), {x[0], x[1], x[3], x[4]}, {w[3], w[4]},
                                        {y[0], y[1], y[3], y[4]});
  const std::vector<double> all = weights(c, 1, "the weights");
  const auto groups = static_cast<int>(n.integer("group", 1));
  if (groups < 1 || x[1] != w[1] * groups || w[0] % groups != 0) c.refuse("channels, groups and weights disagree");
  pad_parameters p;
  p.before = {0, 0, deep.w.pad_left, 0, 0};
  p.after = {0, 0, deep.pad_right, 0, 0};
  shape_t padded = x;
  padded[2] += deep.w.pad_left + deep.pad_right;
  int volume = c.in(0);
  if (padded != x) {
    volume = c.temporary("padded", padded);
    c.emit(std::move(p), {c.in(0)}, volume);
  }
  volume = swapped(c, volume, "pictures");
  const auto plane = static_cast<std::size_t>(w[3] * w[4]), depth = static_cast<std::size_t>(w[2]);
  if (depth > max_kernel_depth)
    c.refuse("its kernel is " + std::to_string(depth) + " deep; kernels of volumes may be " +
             std::to_string(max_kernel_depth) + " deep at most");
  const std::vector<double> bias = bias_in_kernel(c, w[0]);
  int sum = no_value;
  for (std::size_t k = 0; k < depth; ++k) {
    const std::string tap = std::to_string(k);
    conv_parameters conv;
    conv.w = flat.w;
    conv.groups = groups;
    conv.outputs = static_cast<int>(w[0]);
    for (std::size_t i = k; i < all.size() / plane; i += depth)
      conv.weights.insert(conv.weights.end(), all.begin() + static_cast<std::ptrdiff_t>(i * plane),
                          all.begin() + static_cast<std::ptrdiff_t>((i + 1) * plane));
    conv.bias = k == 0 ? bias : std::vector<double>(bias.size(), 0.0);
    slice_parameters s{{0, static_cast<std::int64_t>(k) * deep.w.dilation_w, 0, 0, 0},
                       {1, y[2] > 1 ? deep.w.stride_w : 1, 1, 1, 1}};
    const int slice = c.temporary("slice" + tap, {x[0], y[2], x[1], x[3], x[4]});
    c.emit(std::move(s), {volume}, slice);
    const int product = c.temporary("product" + tap, {x[0] * y[2], y[1], y[3], y[4]});
    c.emit(std::move(conv), {reshaped(c, slice, {x[0] * y[2], x[1], x[3], x[4]})}, product);
    sum = sum == no_value ? product : combine(c, binary_kind::add, product, sum, "sum" + tap);
  }
  const int result = swapped(c, reshaped(c, sum, {x[0], y[2], y[1], y[3], y[4]}), "result"),
            unbiased = result_before_bias(c, bias_is_computed(c));
  c.emit(reshape_parameters{}, {result}, unbiased);
  add_bias_behind(c, unbiased);
}

/// Pools of images, then of lines along the depth.
void pool_volume(context& c, int target) {
  const node& n = c.op();
  const shape_t x = c.in_shape(0), y = c.shape(target);
  const std::vector<std::int64_t> kernel = n.integers("kernel_shape");
  if (kernel.size() != 3) c.refuse("kernel_shape has not one length per spatial axis");
  const auto pooled = [&](const spatial_window& s, int from, shape_t shape, const std::string& suffix) {
    const int result = c.temporary(suffix, std::move(shape));
    emit_pool(c, s, from, result);
    return result;
  };
  const spatial_window flat =
      window_of(c, with_axes(n, 1, 2), {x[0], x[1], x[3], x[4]}, {kernel[1], kernel[2]}, {y[0], y[1], y[3], y[4]});
  const int images = reshaped(c, swapped(c, c.in(0), "pictures"), {x[0] * x[2], x[1], x[3], x[4]});
  const int small = pooled(flat, images, {x[0] * x[2], x[1], y[3], y[4]}, "small");
  spatial_window deep = window_of(c, with_axes(n, 0, 1), {x[0], x[1], x[2]}, {kernel[0]}, {y[0], y[1], y[2]});
  // the only axis of a line becomes the first of two
  std::swap(deep.w.kernel_h, deep.w.kernel_w);
  std::swap(deep.w.stride_h, deep.w.stride_w);
  std::swap(deep.w.dilation_h, deep.w.dilation_w);
  std::swap(deep.w.pad_top, deep.w.pad_left);
  std::swap(deep.pad_bottom, deep.pad_right);
  const int lines = swapped(c, reshaped(c, small, {x[0], x[2], x[1], y[3] * y[4]}), "lines");
  const int result = pooled(deep, lines, {x[0], x[1], y[2], y[3] * y[4]}, "result");
  c.emit(reshape_parameters{}, {result}, target);
}
}
