// SPDX-License-Identifier: MIT
/// Three spatial axes: the first one is taken apart, what remains are pictures.
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {
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

}

/// x [N, C, depth, H, W] with the first two axes of the rest exchanged.
int canonicaliser::exchanged(const node& n, int x, const std::string& suffix) {
  shape_t shape = m_program.shape(x);
  std::swap(shape[1], shape[2]);
  const int result = temporary(n, suffix, shape);
  transpose_parameters t{{0, 2, 1}};
  for (int d = 3; d < static_cast<int>(shape.size()); ++d) t.permutation.push_back(d);
  emit(n, std::move(t), {x}, result);
  return result;
}

/// Most pictures in the depth of a kernel: each becomes a convolution of its own.
constexpr std::size_t deepest_kernel = 256;

/// The sum over the kernel's depth of convolutions of pictures.
void canonicaliser::conv_of_volume(const node& n) {
  const shape_t &x = in_shape(n, 0), &w = in_shape(n, 1), &y = out_shape(n);
  if (w.size() != 5) refuse_node(n, "channels, groups and weights disagree");
  const spatial deep = window_of(with_axes(n, 0, 1), {x[0], x[1], x[2]}, {w[2]}, {y[0], y[1], y[2]}),
                flat = window_of(with_axes(n, 1, 2), {x[0], x[1], x[3], x[4]}, {w[3], w[4]}, {y[0], y[1], y[3], y[4]});
  const std::vector<double> all = weights(n, 1, "the weights");
  const auto groups = static_cast<int>(n.integer("group", 1));
  if (groups < 1 || x[1] != w[1] * groups || w[0] % groups != 0)
    refuse_node(n, "channels, groups and weights disagree");
  pad_parameters p;
  p.before = {0, 0, deep.w.pad_left, 0, 0};
  p.after = {0, 0, deep.pad_right, 0, 0};
  shape_t padded = x;
  padded[2] += deep.w.pad_left + deep.pad_right;
  int volume = in(n, 0);
  if (padded != x) {
    volume = temporary(n, "padded", padded);
    emit(n, std::move(p), {in(n, 0)}, volume);
  }
  volume = exchanged(n, volume, "pictures");
  const auto plane = static_cast<std::size_t>(w[3] * w[4]), depth = static_cast<std::size_t>(w[2]);
  if (depth > deepest_kernel)
    refuse_node(n, "its kernel is " + std::to_string(depth) + " deep; kernels of volumes may be " +
                       std::to_string(deepest_kernel) + " deep at most");
  int sum = no_value;
  for (std::size_t k = 0; k < depth; ++k) {
    const std::string tap = std::to_string(k);
    conv_parameters c;
    c.w = flat.w;
    c.groups = groups;
    c.outputs = static_cast<int>(w[0]);
    for (std::size_t i = k; i < all.size() / plane; i += depth)
      c.weights.insert(c.weights.end(), all.begin() + static_cast<std::ptrdiff_t>(i * plane),
                       all.begin() + static_cast<std::ptrdiff_t>((i + 1) * plane));
    c.bias.assign(static_cast<std::size_t>(w[0]), 0.0);
    if (k == 0 && present(n, 2)) c.bias = numbers(n, 2, "the bias");
    if (c.bias.size() != static_cast<std::size_t>(w[0]))
      refuse_node(n, "the bias has not one value per output channel");
    slice_parameters s{{0, static_cast<std::int64_t>(k) * deep.w.dilation_w, 0, 0, 0},
                       {1, y[2] > 1 ? deep.w.stride_w : 1, 1, 1, 1}};
    const int slice = temporary(n, "slice" + tap, {x[0], y[2], x[1], x[3], x[4]});
    emit(n, std::move(s), {volume}, slice);
    const int product = temporary(n, "product" + tap, {x[0] * y[2], y[1], y[3], y[4]});
    emit(n, std::move(c), {reshaped(n, slice, {x[0] * y[2], x[1], x[3], x[4]})}, product);
    sum = sum == no_value ? product : combine(n, binary_kind::add, product, sum, "sum" + tap);
  }
  const int result = exchanged(n, reshaped(n, sum, {x[0], y[2], y[1], y[3], y[4]}), "result");
  emit(n, reshape_parameters{}, {result});
}

/// Pools of pictures, then of lines along the depth.
void canonicaliser::pool_of_volume(const node& n) {
  const shape_t &x = in_shape(n, 0), &y = out_shape(n);
  const std::vector<std::int64_t> kernel = n.integers("kernel_shape");
  if (kernel.size() != 3) refuse_node(n, "kernel_shape has not one length per spatial axis");
  const auto pooled = [&](const spatial& s, int from, shape_t shape, const std::string& suffix) {
    const int result = temporary(n, suffix, std::move(shape));
    emit_pool(n, s, from, result);
    return result;
  };
  const spatial flat =
      window_of(with_axes(n, 1, 2), {x[0], x[1], x[3], x[4]}, {kernel[1], kernel[2]}, {y[0], y[1], y[3], y[4]});
  const int pictures = reshaped(n, exchanged(n, in(n, 0), "pictures"), {x[0] * x[2], x[1], x[3], x[4]});
  const int small = pooled(flat, pictures, {x[0] * x[2], x[1], y[3], y[4]}, "small");
  spatial deep = window_of(with_axes(n, 0, 1), {x[0], x[1], x[2]}, {kernel[0]}, {y[0], y[1], y[2]});
  // the only axis of a line becomes the first of two
  std::swap(deep.w.kernel_h, deep.w.kernel_w);
  std::swap(deep.w.stride_h, deep.w.stride_w);
  std::swap(deep.w.dilation_h, deep.w.dilation_w);
  std::swap(deep.w.pad_top, deep.w.pad_left);
  std::swap(deep.pad_bottom, deep.pad_right);
  const int lines = exchanged(n, reshaped(n, small, {x[0], x[2], x[1], y[3] * y[4]}), "lines");
  const int result = pooled(deep, lines, {x[0], x[1], y[2], y[3] * y[4]}, "result");
  emit(n, reshape_parameters{}, {result});
}

}
