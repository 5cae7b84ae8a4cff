// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {
namespace {

/// Window lengths have 16 bits in the file.
bool fits(std::int64_t v) { return v >= 0 && v <= 65535; }

}

canonicaliser::spatial canonicaliser::window_of(const node& n, const shape_t& input, std::vector<std::int64_t> kernel,
                                                const shape_t& output) const {
  const std::size_t dims = input.size() - 2;
  if (kernel.size() != dims)
    refuse_node(n, "kernel_shape has " + std::to_string(kernel.size()) + " lengths for " + std::to_string(dims) +
                       " spatial axes");
  std::vector<std::int64_t> strides = n.integers("strides", std::vector<std::int64_t>(dims, 1));
  std::vector<std::int64_t> dilations = n.integers("dilations", std::vector<std::int64_t>(dims, 1));
  std::vector<std::int64_t> pads = n.integers("pads", std::vector<std::int64_t>(2 * dims, 0));
  const std::string auto_pad = n.text("auto_pad", "NOTSET");
  if (strides.size() != dims || dilations.size() != dims || pads.size() != 2 * dims)
    refuse_node(n, "strides, dilations or pads have the wrong length");
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
      refuse_node(n, "a kernel, stride, dilation or pad is negative, zero or above 65535");
  }
  spatial s;
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

void canonicaliser::conv(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const shape_t& weight_shape = in_shape(n, 1);
  if (x.size() == 5) return conv_of_volume(n);
  if (x.size() != 3 && x.size() != 4) refuse_node(n, "convolution has one, two or three spatial axes");
  conv_parameters c;
  c.weights = weights(n, 1, "the weights");
  c.outputs = static_cast<int>(weight_shape[0]);
  c.groups = static_cast<int>(n.integer("group", 1));
  if (c.groups < 1 || x[1] != weight_shape[1] * c.groups || c.outputs % c.groups != 0)
    refuse_node(n, "channels, groups and weights disagree");
  const spatial s = window_of(n, x, {weight_shape.begin() + 2, weight_shape.end()}, out_shape(n));
  c.w = s.w;
  c.bias = present(n, 2) ? numbers(n, 2, "the bias") : std::vector<double>(static_cast<std::size_t>(c.outputs), 0.0);
  if (c.bias.size() != static_cast<std::size_t>(c.outputs))
    refuse_node(n, "the bias has not one value per output channel");
  emit(n, std::move(c), {in(n, 0)});
}

void canonicaliser::gemm(const node& n) {
  const double alpha = n.number("alpha", 1), beta = n.number("beta", 1);
  const bool transpose_a = n.integer("transA", 0) != 0, transpose_b = n.integer("transB", 0) != 0;
  const bool adds = present(n, 2) && beta != 0;
  const shape_t& b = in_shape(n, 1);
  const shape_t& out = out_shape(n);
  int x = in(n, 0);
  if (transpose_a) {
    const int turned = temporary(n, "transA", {in_shape(n, 0)[1], in_shape(n, 0)[0]});
    emit(n, transpose_parameters{{1, 0}}, {x}, turned);
    x = turned;
  }
  const auto depth = static_cast<std::size_t>(b[transpose_b ? 1 : 0]),
             outputs = static_cast<std::size_t>(b[transpose_b ? 0 : 1]);
  const bool constant_b = m_graph.values[static_cast<std::size_t>(n.inputs[1])].constant != nullptr;
  const bool bias_per_column = adds && m_graph.values[static_cast<std::size_t>(n.inputs[2])].constant != nullptr &&
                               (in_shape(n, 2).empty() || in_shape(n, 2).back() == count_of(in_shape(n, 2)));
  int product = adds && !bias_per_column ? temporary(n, "product", out) : of(output_of(n));
  if (constant_b) {
    const std::vector<double> source = weights(n, 1, "B");
    dense_parameters d;
    d.depth = static_cast<int>(depth);
    d.outputs = static_cast<int>(outputs);
    d.weights.resize(depth * outputs);
    for (std::size_t k = 0; k < depth; ++k)
      for (std::size_t o = 0; o < outputs; ++o)
        d.weights[k * outputs + o] = alpha * (transpose_b ? source[o * depth + k] : source[k * outputs + o]);
    d.bias.assign(outputs, 0.0);
    if (bias_per_column) {
      const std::vector<double> c = numbers(n, 2, "C");
      for (std::size_t o = 0; o < outputs; ++o) d.bias[o] = beta * c[c.size() == 1 ? 0 : o];
    }
    emit(n, std::move(d), {x}, product);
  } else {
    int right = in(n, 1);
    if (transpose_b) {
      const int turned = temporary(n, "transB", {b[1], b[0]});
      emit(n, transpose_parameters{{1, 0}}, {right}, turned);
      right = turned;
    }
    if (bias_per_column) product = temporary(n, "product", out);
    const int plain = alpha == 1 ? product : temporary(n, "plain", out);
    emit(n, mat_mul_parameters{}, {x, right}, plain);
    if (alpha != 1) combine(n, binary_kind::mul, plain, scalar(n, "alpha", alpha), "", product);
  }
  if (product != of(output_of(n))) {
    if (beta != 1) {
      const int scaled = temporary(n, "beta", in_shape(n, 2));
      emit(n, binary_parameters{binary_kind::mul}, {in(n, 2), constant(n, "beta_value", {}, {beta})}, scaled);
      emit(n, binary_parameters{binary_kind::add}, {product, scaled});
    } else {
      emit(n, binary_parameters{binary_kind::add}, {product, in(n, 2)});
    }
  }
}

void canonicaliser::mat_mul(const node& n) {
  const shape_t &a = in_shape(n, 0), &b = in_shape(n, 1), &out = out_shape(n);
  const bool constant_b = m_graph.values[static_cast<std::size_t>(n.inputs[1])].constant != nullptr;
  if (constant_b && b.size() == 2 && !a.empty()) {
    dense_parameters d;
    d.weights = weights(n, 1, "B");
    d.depth = static_cast<int>(b[0]);
    d.outputs = static_cast<int>(b[1]);
    d.bias.assign(static_cast<std::size_t>(d.outputs), 0.0);
    emit(n, std::move(d), {in(n, 0)});
    return;
  }
  if (a.empty() || b.empty()) refuse_node(n, "MatMul of a scalar");
  // numpy's promotion of vectors, then both sides with equal numbers of batch axes
  shape_t full_a = a.size() == 1 ? shape_t{1, a[0]} : a, full_b = b.size() == 1 ? shape_t{b[0], 1} : b;
  const std::size_t rank = std::max(full_a.size(), full_b.size());
  full_a.insert(full_a.begin(), rank - full_a.size(), 1);
  full_b.insert(full_b.begin(), rank - full_b.size(), 1);
  shape_t full(rank);
  for (std::size_t i = 0; i + 2 < rank; ++i) full[i] = std::max(full_a[i], full_b[i]);
  full[rank - 2] = full_a[rank - 2];
  full[rank - 1] = full_b[rank - 1];
  const int left = reshaped(n, in(n, 0), full_a), right = reshaped(n, in(n, 1), full_b);
  if (full == out) {
    emit(n, mat_mul_parameters{}, {left, right});
    return;
  }
  const int product = temporary(n, "product", full);
  emit(n, mat_mul_parameters{}, {left, right}, product);
  emit(n, reshape_parameters{}, {product});
}

void canonicaliser::batch_normalization(const node& n) {
  const double epsilon = n.number("epsilon", 1e-5f);
  const shape_t& x = in_shape(n, 0);
  if (n.integer("training_mode", 0) != 0) {  // the statistics are the input's own
    for (std::size_t i = 1; i < n.outputs.size(); ++i)
      if (n.outputs[i] != no_value) refuse_node(n, "its running statistics have no kernel; read the first output only");
    std::vector<int> axes;
    for (int a = 0; a < static_cast<int>(x.size()); ++a)
      if (a != 1) axes.push_back(a);
    return scale_channels(n, standardised(n, in(n, 0), axes, epsilon), numbers(n, 1, "scale"), numbers(n, 2, "B"));
  }
  for (std::size_t i = 1; i < 5; ++i)
    if (m_graph.values[static_cast<std::size_t>(n.inputs[i])].constant == nullptr)
      return computed_normalization(n, epsilon);
  const std::vector<double> scale = numbers(n, 1, "scale"), bias = numbers(n, 2, "B"), mean = numbers(n, 3, "mean"),
                            variance = numbers(n, 4, "var");
  const std::size_t channels = scale.size();
  if (bias.size() != channels || mean.size() != channels || variance.size() != channels)
    refuse_node(n, "scale, B, mean and var differ in length");
  std::vector<double> factor(channels), offset(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    factor[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    offset[c] = bias[c] - mean[c] * factor[c];
  }
  shape_t per_channel(x.size(), 1);
  if (x.size() > 1) per_channel[1] = static_cast<std::int64_t>(channels);
  const int scaled = temporary(n, "scaled", x);
  emit(n, binary_parameters{binary_kind::mul}, {in(n, 0), constant(n, "factor", per_channel, factor)}, scaled);
  emit(n, binary_parameters{binary_kind::add}, {scaled, constant(n, "offset", per_channel, offset)});
}

/// (x - mean) / sqrt(var + epsilon) * scale + B, where some of them are computed: exporters write normalisations of
/// other axes so.
void canonicaliser::computed_normalization(const node& n, double epsilon) {
  const shape_t& x = in_shape(n, 0);
  const auto per_channel = [&](std::size_t i) {
    shape_t shape(x.size(), 1);
    if (x.size() > 1) shape[1] = count_of(in_shape(n, i));
    return reshaped(n, in(n, i), shape);
  };
  const int padded = combine(n, binary_kind::add, per_channel(4), scalar(n, "epsilon", epsilon), "padded");
  const int factor =
      combine(n, binary_kind::div, per_channel(1), apply(n, padded, function::sqrt, "deviation"), "factor");
  const int centred = combine(n, binary_kind::sub, in(n, 0), per_channel(3), "centred");
  const int scaled = combine(n, binary_kind::mul, centred, factor, "scaled");
  emit(n, binary_parameters{binary_kind::add}, {scaled, per_channel(2)});
}

void canonicaliser::emit_pool(const node& n, const spatial& s, int from, int result) {
  const overhang around = window_overhang(s.w, m_program.shape(from), m_program.shape(result));
  const std::int64_t reach_h = std::int64_t{s.w.kernel_h - 1} * s.w.dilation_h,
                     reach_w = std::int64_t{s.w.kernel_w - 1} * s.w.dilation_w;
  if (around.top > reach_h || around.left > reach_w || around.bottom > reach_h || around.right > reach_w)
    refuse_node(n, "its first or last windows lie in the padding alone; make the pads smaller than the kernel");
  pool_parameters p;
  p.kind = n.op == "MaxPool" ? pool_kind::max : pool_kind::average;
  p.w = s.w;
  p.pad_bottom = s.pad_bottom;
  p.pad_right = s.pad_right;
  p.count_include_pad = n.integer("count_include_pad", 0) != 0;
  emit(n, std::move(p), {from}, result);
}

void canonicaliser::pool(const node& n) {
  const shape_t& x = in_shape(n, 0);
  if (n.outputs.size() > 1 && n.outputs[1] != no_value) refuse_node(n, "the Indices output of MaxPool has no kernel");
  if (x.size() == 5) return pool_of_volume(n);
  if (x.size() != 3 && x.size() != 4) refuse_node(n, "pooling has one, two or three spatial axes");
  emit_pool(n, window_of(n, x, n.integers("kernel_shape"), out_shape(n)), in(n, 0), of(output_of(n)));
}

void canonicaliser::global_pool(const node& n) {
  reduce_parameters r;
  r.kind = n.op == "GlobalMaxPool" ? reduce_kind::max : reduce_kind::mean;
  for (std::size_t a = 2; a < in_shape(n, 0).size(); ++a) r.axes.push_back(static_cast<int>(a));
  emit(n, std::move(r), {in(n, 0)});
}

}
