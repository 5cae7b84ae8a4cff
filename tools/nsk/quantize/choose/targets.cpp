// SPDX-License-Identifier: MIT
#include "quantize/choose/targets.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "program/winograd_choice.hpp"
#include "quantize/choose/min_cut.hpp"

namespace nsk::tool {
namespace {

/// Cycles of each element that a layer stores, and of each that a step between layers makes; of beginning a step.
constexpr double store_floats = 0.15, store_bytes = 0.37, sum_of_bytes = 0.7, joined_sum = 0.2, table = 0.35,
                 costly_function = 1.5, conversion = 0.45, step = 400;

double padded(std::int64_t count, std::int64_t to) { return static_cast<double>((count + to - 1) / to * to); }

double count_at(const graph& g, value_id v) {
  return static_cast<double>(count_of(g.values[static_cast<std::size_t>(v)].shape));
}

/// Rows, columns of what a convolution makes; a product has as many rows, and one column.
std::array<std::int64_t, 2> map_of(const graph& g, const float_layer& l) {
  const shape_t& y = g.values[static_cast<std::size_t>(l.result)].shape;
  if (g.nodes[l.node].op != "Conv") return {count_of(y) / std::max<std::int64_t>(1, l.weights.channels), 1};
  return {y.size() > 2 ? y[2] : 1, count_between(y, 3, y.size())};
}

window window_of(const node& n, const layer_weights& w) {
  window result;
  result.kernel_h = w.kernel_h;
  result.kernel_w = w.kernel_w;
  if (n.op != "Conv") return result;  // attributes of these names mean nothing to products
  const std::vector<std::int64_t> strides = n.integers("strides", {1, 1}), dilations = n.integers("dilations", {1, 1});
  result.stride_h = static_cast<std::int32_t>(strides.front());
  result.stride_w = static_cast<std::int32_t>(strides.back());
  result.dilation_h = static_cast<std::int32_t>(dilations.front());
  result.dilation_w = static_cast<std::int32_t>(dilations.back());
  return result;
}

/// Multiply-adds of a direct convolution that a float32 layer stands for in a cycle: those of large layers, or as many
/// as what its size leaves Winograd's algorithm to gain.
double float_rate(const graph& g, const float_layer& l, const target_rates& r) {
  const conv_algorithm a = float_algorithm(g, l);
  if (a == conv_algorithm::direct) return r.convolution;
  const auto [rows, columns] = map_of(g, l);
  const double gain = expected_gain(a, l.weights.depth, l.weights.channels, rows, columns);
  return std::min(a == conv_algorithm::winograd4 ? r.winograd4 : r.winograd2, gain * r.convolution);
}

/// A transposed convolution: one with a part of the taps for each phase of its strides.
layer_cost cost_of_transposition(const graph& g, const float_layer& l, const target& t) {
  const layer_weights& w = l.weights;
  const double phases = phases_of(g.nodes[l.node]), taps = w.kernel_h * w.kernel_w / phases,
               elements = count_at(g, l.result) / std::max(1, w.channels) * padded(w.channels, 8);
  return {phases * step + elements * (taps * static_cast<double>(w.depth) / t.rates.convolution + store_floats),
          phases * step + elements * (taps * padded(w.depth, 4) / t.rates.byte_convolution + store_bytes)};
}

}

const std::vector<target>& targets() {
  static const std::vector<target> all = {
      {"pc", "AVX2 without VNNI", {13.8, 36, 20, 10, 27, 11, 8}, 3.5, {1 << 20, 16 << 20}, 2 << 20},
      {"pc-vnni", "VNNI of 256 bits", {13.8, 36, 20, 10, 54, 20, 8}, 3.5, {1 << 20, 16 << 20}, 2 << 20},
      {"zen2-console",
       "AVX2 with one integer multiplier",
       {13.8, 36, 20, 10, 14, 6, 6},
       3.5,
       {1 << 19, 4 << 20, 6},  // a graphics processor reads memory at the same time
       1 << 19},
      {"switch2",
       "NEON with dot products, 1 GHz",
       {7, 17, 10, 5, 22, 9, 4},
       1.0,
       {1 << 18, 4 << 20, 6},  // a graphics processor reads memory at the same time
       1 << 20},
      {"mobile", "NEON with dot products", {7, 17, 10, 5, 22, 9, 4}, 2.5, {1 << 19, 3 << 20}, 1 << 20},
  };
  return all;
}

const target* find_target(const std::string& name) {
  for (const target& t : targets())
    if (t.name == name) return &t;
  return nullptr;
}

conv_algorithm float_algorithm(const graph& g, const float_layer& l) {
  const node& n = g.nodes[l.node];
  if (n.op != "Conv" || l.weights.depthwise) return conv_algorithm::direct;
  const auto [rows, columns] = map_of(g, l);
  return fastest_algorithm(window_of(n, l.weights), n.integer("group", 1), l.weights.depth, l.weights.channels, rows,
                           columns);
}

layer_cost cost_of(const graph& g, const float_layer& l, const target& t) {
  const node& n = g.nodes[l.node];
  if (n.op == "ConvTranspose") return cost_of_transposition(g, l, t);
  const layer_weights& w = l.weights;
  const std::int64_t groups = n.op == "Conv" ? n.integer("group", 1) : 1;
  const double elements = count_at(g, l.result), taps = w.kernel_h * w.kernel_w,
               pixels = elements / static_cast<double>(std::max(1, w.channels)),
               weights = static_cast<double>(w.values.size());
  if (w.depthwise)
    return {step + elements * (taps / t.rates.depthwise + store_floats),
            step + pixels * padded(w.channels, 16) * (taps / t.rates.byte_depthwise + store_bytes)};
  // a run of a window ends with a whole quad: the kernel's rows where pixels follow each other, else each pixel
  const bool whole_rows = groups == 1 && window_of(n, w).dilation_w == 1;
  const std::int64_t run = w.depth * (whole_rows ? w.kernel_w : 1);
  const double depth = taps * static_cast<double>(w.depth),
               byte_depth = padded(run, 4) * (whole_rows ? w.kernel_h : taps);
  const layer_cost arithmetic = {
      pixels * padded(w.channels, 8) * (depth / float_rate(g, l, t.rates) + store_floats),
      pixels * padded(w.channels, 8) * (byte_depth / t.rates.byte_convolution + store_bytes)};
  return {step + std::max(arithmetic.floats, 4 * weights / t.rates.weight_bytes),
          step + std::max(arithmetic.bytes, weights / t.rates.weight_bytes)};
}

layer_cost cost_of(const graph& g, const node& n, bool can_be_bytes) {
  static const std::set<std::string> costly = {"Sigmoid", "Tanh",     "Exp",  "Log", "Erf", "Softplus",
                                               "Gelu",    "Softsign", "Mish", "Elu", "Selu"};
  const double elements = n.outputs.empty() || n.outputs[0] == no_value ? 0 : count_at(g, n.outputs[0]);
  if (!can_be_bytes) return {0, min_cut::never};
  if (costly.count(n.op) != 0) return {costly_function * elements, table * elements};
  const bool is_sum = n.op == "Add" || n.op == "Sub" || n.op == "Mul";
  return {0, is_sum ? sum_cost(static_cast<std::int64_t>(elements), false) : 0};
}

double sum_cost(std::int64_t elements, bool joined) {
  return joined ? joined_sum * static_cast<double>(elements) : step + sum_of_bytes * static_cast<double>(elements);
}
double conversion_cost(std::int64_t elements) { return step + conversion * static_cast<double>(elements); }

}
