// SPDX-License-Identifier: MIT
#include <netsuke/format/packing.hpp>
#include "profile/references.hpp"

#include "resolve/infer.hpp"
#include "compile/compile.hpp"
#include "passes/canonicalise/canonicalise.hpp"
#include "passes/fuse/fuse.hpp"
#include "ops/lower.hpp"
#include "planner/planner.hpp"
#include "write/file.hpp"

namespace nsk::tool {
namespace {
using attributes = std::map<std::string, attribute>;
using lengths = std::vector<std::int64_t>;
constexpr int opset = 14;

/// Collects independent layers: each reads an input of its own and writes an output.
class layers {
 public:
  value_id input(shape_t shape) {
    value v;
    v.name = "x" + std::to_string(m_graph.inputs.size());
    v.set(element::f32, std::move(shape));
    m_graph.inputs.push_back(m_graph.add(std::move(v)));
    return m_graph.inputs.back();
  }
  /// Small numbers without a pattern, so that results stay in a sensible range.
  value_id weights(shape_t shape) {
    array a(element::f32, shape);
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < a.count(); ++i) {
      state = state * 1664525u + 1013904223u;
      a.as<float>()[i] = (static_cast<float>(state >> 8) * 0x1p-24f - 0.5f) * 0.1f;
    }
    return constant(std::move(a));
  }
  value_id constant(array a) { return m_graph.add_constant("c" + std::to_string(m_graph.values.size()), std::move(a)); }
  void layer(const std::string& op, const std::string& name, std::vector<value_id> inputs, attributes given = {}) {
    m_graph.outputs.push_back(node_of(op, name, std::move(inputs), std::move(given)));
  }

  /// An input that a step of the network has just written, with the border that the layer asks for: how layers find
  /// their inputs inside a network.
  value_id written(shape_t shape) { return node_of("Relu", preparation_name, {input(std::move(shape))}); }
  /// written() for layers that do not ask for channels last, but find them so behind a convolution.
  value_id written_channels_last(std::int64_t size, std::int64_t channels) {
    return node_of("Conv", preparation_name, {input({1, 4, size, size}), weights({channels, 4, 1, 1})});
  }

  /// A network's first convolution: reads the model's input.
  void first_conv(std::int64_t size, std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t stride) {
    conv_of(input({1, from, size, size}), size, from, to, kernel, stride);
  }
  void conv(std::int64_t size, std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t stride = 1) {
    conv_of(written({1, from, size, size}), size, from, to, kernel, stride);
  }
  void depthwise(std::int64_t size, std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
    attributes window = window_of(kernel, stride);
    window["group"] = channels;
    layer("Conv", label("depthwise", size, channels, channels, kernel, stride),
          {written({1, channels, size, size}), weights({channels, 1, kernel, kernel})}, window);
  }
  void dense(std::int64_t rows, std::int64_t from, std::int64_t to) {
    layer("MatMul", "dense " + std::to_string(rows) + " x " + std::to_string(from) + " -> " + std::to_string(to),
          {written({rows, from}), weights({from, to})});
  }
  /// A layer of one input [1,channels,size,size].
  void plain(const std::string& op, std::int64_t size, std::int64_t channels, attributes given = {}) {
    layer(op, op + " " + image(size, channels), {written({1, channels, size, size})}, std::move(given));
  }
  void pool(const std::string& op, std::int64_t size, std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
    plain(op, size, channels, window_of(kernel, stride));
  }
  void resize(std::int64_t size, std::int64_t channels, const std::string& mode) {
    const value_id scales = constant(make_floats({4}, {1, 1, 2, 2}));
    layer("Resize", "resize " + mode + " " + image(size, channels),
          {written({1, channels, size, size}), no_value, scales},
          {{"mode", mode}, {"coordinate_transformation_mode", std::string("half_pixel")}});
  }
  void mean(std::int64_t size, std::int64_t channels) {
    layer("GlobalAveragePool", "mean " + image(size, channels), {written_channels_last(size, channels)});
  }
  void depth_to_space(std::int64_t size, std::int64_t channels) {
    layer("DepthToSpace", "depth to space " + image(size, channels), {written_channels_last(size, channels)},
          {{"blocksize", std::int64_t{2}}, {"mode", std::string("CRD")}});
  }
  /// Channels of two halves alternately, as a reshape, a transposition and a reshape.
  void channel_shuffle(std::int64_t size, std::int64_t channels) {
    const std::string name = "channel shuffle " + image(size, channels);
    const value_id x = written_channels_last(size, channels);
    const value_id halves = node_of("Reshape", name, {x, constant(make_ints({5}, {1, 2, channels / 2, size, size}))});
    const value_id transposed = node_of("Transpose", name, {halves}, {{"perm", lengths{0, 2, 1, 3, 4}}});
    layer("Reshape", name, {transposed, constant(make_ints({4}, {1, channels, size, size}))});
  }
  /// Two inputs side by side: copies, because inputs cannot be moved.
  void concat(std::int64_t size, std::int64_t channels) {
    const shape_t shape{1, channels, size, size};
    layer("Concat", "concat " + image(size, channels), {input(shape), input(shape)}, {{"axis", std::int64_t{1}}});
  }
  void softmax(std::int64_t rows, std::int64_t columns) {
    layer("Softmax", "softmax " + std::to_string(rows) + "x" + std::to_string(columns), {written({rows, columns})},
          {{"axis", std::int64_t{-1}}});
  }
  void sum(std::int64_t size, std::int64_t channels) {
    const shape_t shape{1, channels, size, size};
    layer("Add", "add " + image(size, channels), {written(shape), written(shape)});
  }
  void scale(std::int64_t size, std::int64_t channels) {
    layer("Mul", "scale " + image(size, channels), {written({1, channels, size, size}), written({1, channels, 1, 1})});
  }

  reference_network done(const std::string& name) {
    m_graph.name = name;
    resolve(m_graph, {});
    return {name, compile({{"default", m_graph, {}}}, {})};
  }
  /// done() with every step cut into blocks of `channels` elements of its last dimension.
  reference_network done_in_tiles(const std::string& name, std::uint32_t channels) {
    m_graph.name = name;
    resolve(m_graph, {});
    program p = canonicalise(m_graph);
    fuse(p);
    plan layout = lower(p, {});
    plan_tiles(layout, 1);
    for (plan_step& s : layout.steps) {
      const auto length = static_cast<std::uint32_t>(layout.tensor(s.outputs[0]).shape.back());
      s.tile = {0, 0, channels, (length + channels - 1) / channels};
    }
    constant_pool pool;
    plan_memory(layout, pool);
    pool.bytes.resize(pool.bytes.size() + over_read);
    return {name, write_model({{"default", layout}}, pool.bytes, {})};
  }

 private:
  value_id node_of(const std::string& op, const std::string& name, std::vector<value_id> inputs,
                   attributes given = {}) {
    value y;
    y.name = "y" + std::to_string(m_graph.values.size());
    const value_id result = m_graph.add(std::move(y));
    m_graph.nodes.push_back({op, "", name, opset, std::move(inputs), {result}, std::move(given)});
    return result;
  }
  void conv_of(value_id x, std::int64_t size, std::int64_t from, std::int64_t to, std::int64_t kernel,
               std::int64_t stride) {
    layer("Conv", label("conv", size, from, to, kernel, stride), {x, weights({to, from, kernel, kernel})},
          window_of(kernel, stride));
  }
  static attributes window_of(std::int64_t kernel, std::int64_t stride) {
    return {{"kernel_shape", lengths{kernel, kernel}},
            {"strides", lengths{stride, stride}},
            {"pads", lengths(4, kernel / 2)}};
  }
  static std::string image(std::int64_t size, std::int64_t channels) {
    return std::to_string(size) + "x" + std::to_string(size) + "x" + std::to_string(channels);
  }
  static std::string label(const char* what, std::int64_t size, std::int64_t from, std::int64_t to, std::int64_t kernel,
                           std::int64_t stride) {
    std::string text =
        std::string(what) + " " + std::to_string(kernel) + "x" + std::to_string(kernel) + " " + image(size, from);
    if (to != from) text += " -> " + std::to_string(to);
    return stride > 1 ? text + " / " + std::to_string(stride) : text;
  }
  graph m_graph;
};

reference_network convolutions() {
  layers l;
  l.first_conv(224, 3, 16, 3, 2);
  l.first_conv(224, 3, 64, 7, 2);
  l.conv(112, 16, 32, 3, 2);
  l.conv(56, 24, 24, 5);
  l.conv(56, 64, 128, 3, 2);
  l.conv(28, 128, 256, 3, 2);
  l.conv(14, 256, 256, 3, 2);
  l.first_conv(160, 3, 32, 3, 1);
  return l.done("convolutions");
}

reference_network winograd() {
  constexpr std::int64_t shapes[][3] = {{112, 16, 16},  {112, 32, 32}, {56, 64, 64},  {28, 128, 128}, {28, 48, 192},
                                        {14, 256, 256}, {14, 64, 64},  {7, 256, 256}, {7, 512, 512},  {6, 128, 128}};
  layers l;
  for (const auto& [size, from, to] : shapes) l.conv(size, from, to, 3);
  return l.done("winograd");
}

reference_network pointwise() {
  constexpr std::int64_t shapes[][3] = {{112, 16, 16},   {112, 16, 96}, {56, 24, 144}, {56, 64, 256},
                                        {56, 144, 24},   {56, 256, 64}, {28, 32, 192}, {28, 192, 32},
                                        {28, 128, 128},  {14, 96, 576}, {14, 576, 96}, {14, 1024, 256},
                                        {14, 256, 1024}, {7, 160, 960}, {7, 960, 160}, {7, 512, 512}};
  layers l;
  for (const auto& [size, from, to] : shapes) l.conv(size, from, to, 1);
  l.dense(16, 128, 128);
  return l.done("pointwise");
}

/// Layers whose time is that of memory: each in a network of its own, so that caches hold what they hold in small
/// networks. What larger ones wait for follows from the bandwidths.
template <class Add>
void add_alone(std::vector<reference_network>& networks, Add&& add) {
  layers l;
  add(l);
  networks.push_back(l.done("alone"));
}

void add_depthwise(std::vector<reference_network>& networks) {
  struct shape {
    std::int64_t size, channels, kernel, stride;
  };
  constexpr shape shapes[] = {{112, 32, 3, 1}, {112, 96, 3, 2}, {56, 144, 3, 1}, {56, 24, 3, 1},  {128, 24, 3, 1},
                              {32, 48, 3, 1},  {28, 192, 3, 1}, {28, 120, 5, 1}, {28, 240, 5, 2}, {14, 576, 3, 1},
                              {14, 480, 5, 1}, {7, 960, 3, 1},  {7, 1152, 5, 1}};
  for (const shape& s : shapes)
    add_alone(networks, [&](layers& l) { l.depthwise(s.size, s.channels, s.kernel, s.stride); });
}

void add_small_convolutions(std::vector<reference_network>& networks) {
  add_alone(networks, [](layers& l) { l.first_conv(28, 1, 8, 5, 1); });
  add_alone(networks, [](layers& l) { l.conv(14, 8, 16, 5); });
}

void add_windows(std::vector<reference_network>& networks) {
  add_alone(networks, [](layers& l) { l.pool("MaxPool", 112, 64, 3, 2); });
  add_alone(networks, [](layers& l) { l.pool("MaxPool", 28, 128, 3, 2); });
  add_alone(networks, [](layers& l) { l.pool("MaxPool", 14, 192, 3, 1); });
  add_alone(networks, [](layers& l) { l.pool("AveragePool", 28, 64, 3, 1); });
  for (const std::int64_t size : {28, 64, 128})
    add_alone(networks, [&](layers& l) {
      l.plain("MaxPool", size, size / 3 / 8 * 8, {{"kernel_shape", lengths{2, 2}}, {"strides", lengths{2, 2}}});
    });
  for (const std::int64_t size : {7, 14, 28, 56}) add_alone(networks, [&](layers& l) { l.mean(size, 4480 / size); });
  for (const char* const mode : {"nearest", "linear"}) {
    add_alone(networks, [&](layers& l) { l.resize(14, 64, mode); });
    add_alone(networks, [&](layers& l) { l.resize(56, 24, mode); });
  }
}

void add_dense(std::vector<reference_network>& networks) {
  constexpr std::int64_t sizes[][2] = {{16, 64},  {96, 8},    {64, 64},  {128, 128},
                                       {256, 12}, {256, 256}, {960, 32}, {512, 256}};
  for (const auto& size : sizes) add_alone(networks, [&](layers& l) { l.dense(1, size[0], size[1]); });
}

void add_elementwise(std::vector<reference_network>& networks) {
  for (const std::int64_t size : {1, 7, 14, 28, 56}) add_alone(networks, [&](layers& l) { l.sum(size, 64); });
  for (const std::int64_t size : {7, 28}) add_alone(networks, [&](layers& l) { l.scale(size, 192); });
  for (const char* const function : {"HardSwish", "Relu", "Sigmoid", "Tanh", "Exp"})
    add_alone(networks, [&](layers& l) { l.plain(function, 28, 32); });
  add_alone(networks, [](layers& l) { l.plain("Sigmoid", 1, 96); });
  for (const std::int64_t size : {7, 28}) {
    add_alone(networks, [&](layers& l) { l.channel_shuffle(size, 1568 / size); });
    add_alone(networks, [&](layers& l) { l.concat(size, 1568 / size); });
  }
  add_alone(networks, [](layers& l) { l.depth_to_space(56, 12); });
  add_alone(networks, [](layers& l) { l.depth_to_space(14, 128); });
  add_alone(networks, [](layers& l) { l.softmax(16, 1000); });
  add_alone(networks, [](layers& l) { l.softmax(1, 64); });
}

}

std::vector<reference_network> make_reference_networks() {
  std::vector<reference_network> networks{convolutions(), winograd(), pointwise()};
  add_small_convolutions(networks);
  add_depthwise(networks);
  add_windows(networks);
  add_dense(networks);
  add_elementwise(networks);
  return networks;
}

reference_network make_overhead_network(int steps, int tiles) {
  layers l;
  constexpr std::int64_t elements = 512;
  for (int i = 0; i < steps; ++i) l.layer("Neg", "negate", {l.input({elements})});
  return l.done_in_tiles("overhead", static_cast<std::uint32_t>(elements / tiles));
}

}
