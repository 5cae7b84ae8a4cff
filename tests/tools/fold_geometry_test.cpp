// SPDX-License-Identifier: MIT
// What stands beside a window is folded into it, merged with it, or left alone. All of that must be right for every
// kernel, stride, dilation, pad, output padding and auto_pad: networks of one window between two neighbours, sampled at
// random, against the evaluator, which folds nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "engine/engine.hpp"
#include "errors.hpp"
#include "resolve/infer.hpp"
#include "graph_builder.hpp"
#include "random_choices.hpp"
#include "io/layout.hpp"
#include "engine/model_file.hpp"
#include "compile/compile.hpp"
#include "reference/evaluator.hpp"
#include "check/random_inputs.hpp"

namespace {

using namespace nsk::test;
using attributes = std::map<std::string, attribute>;

constexpr int random_networks = 9000, min_compared = 6000;
constexpr double tolerance = 2e-5;

/// Difference of the engine's outputs from the evaluator's, as a share of the largest magnitude (at least 1).
double error_of(graph g) {
  resolve(g, {});
  const std::vector<std::byte> bytes = compile({{"default", g}}, {});
  const model_file file = open_model(bytes, "network");
  const auto runner = choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, 0);
  const std::map<std::string, array> inputs = random_inputs(g, file.view, 7);
  for (int i = 0; i < file.view.input_count(); ++i) {
    const array data = to_engine(file.view.input(i), inputs.at(file.view.input(i).name()));
    std::memcpy(runner->input(i), data.data.data(), data.data.size());
  }
  runner->run();
  const std::map<std::string, array> wanted = evaluator(g).run(inputs);
  double error = 0;
  for (int i = 0; i < file.view.output_count(); ++i) {
    const nsk::port_view port = file.view.output(i);
    array dense_output(element_of(port.type()), engine_shape_of(port));
    std::memcpy(dense_output.data.data(), runner->output(i), dense_output.data.size());
    const array got = to_source(port, dense_output);
    const array& reference = wanted.at(port.name());
    REQUIRE(got.shape == reference.shape);
    double largest = 1, difference = 0;
    for (std::int64_t k = 0; k < got.count(); ++k) {
      largest = std::max(largest, std::fabs(reference.number(k)));
      const double d = std::fabs(got.number(k) - reference.number(k));
      difference = std::isnan(d) ? 1e30 : std::max(difference, d);
    }
    error = std::max(error, difference / largest);
  }
  return error;
}

/// One window between two neighbours, sampled from a seed.
class random_network : random_choices {
 public:
  explicit random_network(unsigned seed) : random_choices(seed), m_builder(17) {
    m_dims = one_in(3) ? 1 : 2;
    m_groups = pick({1, 1, 2, 4});
    m_channels = m_groups * pick({1, 1, 2, 5});
    m_shape = {pick({1, 1, 2}), m_channels};
    for (std::size_t d = 0; d < m_dims; ++d) m_shape.push_back(between(1, 8));
    value_id v = m_builder.input("x", m_shape);
    for (std::int64_t i = between(0, 2); i-- > 0;) v = neighbour_before(v);
    v = window_on(v);
    for (std::int64_t i = between(0, 2); i-- > 0;) v = neighbour_behind(v);
    m_builder.output(v);
  }
  graph& network() { return m_builder.g; }
  std::string text() const { return m_text; }

 private:
  std::string name() { return "v" + std::to_string(m_count++); }

  /// Random numbers of magnitude 0.5 to 1.5: divisors too.
  value_id numbers(const shape_t& shape, bool positive = false) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count_of(shape); ++i) {
      const float magnitude = 0.5f + static_cast<float>(between(0, 1000)) / 1000.0f;
      values.push_back(positive || one_in(2) ? magnitude : -magnitude);
    }
    return m_builder.floats(name(), shape, values);
  }
  /// A number, or one per channel with or without the axis of the batch.
  value_id per_channel() {
    if (one_in(3)) return numbers({});
    shape_t shape(m_dims + 1, 1);
    shape[0] = m_channels;
    if (one_in(2)) shape.insert(shape.begin(), 1);
    return numbers(shape);
  }
  value_id node(const std::string& op, std::vector<value_id> inputs, attributes a = {}) {
    m_text += (m_text.empty() ? "" : ", ") + op;
    return m_builder.node_of(op, std::move(inputs), name(), std::move(a));
  }
  value_id binary(value_id v) {
    static const char* const kinds[] = {"Add", "Sub", "Mul", "Div"};
    const std::string kind = kinds[between(0, 3)];
    const bool constant_first = kind != "Div" && one_in(3);
    return constant_first ? node(kind, {per_channel(), v}) : node(kind, {v, per_channel()});
  }
  value_id normalized(value_id v) {
    return node("BatchNormalization",
                {v, numbers({m_channels}), numbers({m_channels}), numbers({m_channels}), numbers({m_channels}, true)});
  }

  value_id neighbour_before(value_id v) {
    switch (between(0, 6)) {
      case 0: return normalized(v);
      case 1:
        return node("InstanceNormalization", {v, numbers({m_channels}), numbers({m_channels})}, {{"epsilon", 0.5f}});
      case 2: return node("Add", {node("Mul", {v, numbers({})}), numbers({})});
      case 3: return padded(v);
      case 4: return node("LeakyRelu", {v});
      default: return binary(v);
    }
  }
  value_id padded(value_id v) {
    ints pads(2 * m_shape.size(), 0);
    for (std::size_t d = 2; d < m_shape.size(); ++d) {
      pads[d] = between(0, 2);
      pads[d + m_shape.size()] = between(0, 2);
      m_shape[d] += pads[d] + pads[d + m_shape.size()];
    }
    return node("Pad", {v, m_builder.ints(name(), pads)});
  }
  value_id neighbour_behind(value_id v) {
    switch (between(0, 7)) {
      case 0: return normalized(v);
      case 1: return node("Clip", {v, m_builder.floats(name(), {}, {-0.5f}), m_builder.floats(name(), {}, {0.75f})});
      case 2: return node("PRelu", {v, numbers(slopes())});
      case 3: return node("Mul", {v, node("Sigmoid", {v})});
      case 4: return node("HardSwish", {v});
      case 5: return node("Add", {v, node("Tanh", {v})});
      default: return binary(v);
    }
  }
  shape_t slopes() const {
    shape_t shape(m_dims + 1, 1);
    shape[0] = m_channels;
    return shape;
  }

  attributes window_attributes(ints& kernel, bool transposed) {
    ints strides, dilations, pads(2 * m_dims);
    for (std::size_t d = 0; d < m_dims; ++d) {
      kernel.push_back(between(1, one_in(5) ? 8 : 4));
      strides.push_back(between(1, one_in(6) ? 6 : 3));
      dilations.push_back(one_in(3) ? between(2, 4) : 1);
    }
    attributes a = {{"strides", strides}, {"dilations", dilations}};
    static const char* const modes[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    if (one_in(2)) {
      a["auto_pad"] = std::string(modes[between(0, 2)]);
    } else {
      for (std::size_t d = 0; d < pads.size(); ++d) pads[d] = between(0, 3);
      a["pads"] = pads;
    }
    if (!transposed) return a;
    ints extra;
    for (std::size_t d = 0; d < m_dims; ++d) extra.push_back(between(0, std::max(strides[d], dilations[d]) - 1));
    if (one_in(3)) a["output_padding"] = extra;
    if (one_in(5)) {
      ints lengths;
      for (std::size_t d = 0; d < m_dims; ++d) lengths.push_back(between(1, 9));
      a["output_shape"] = lengths;
      a.erase("pads");
    }
    return a;
  }

  value_id window_on(value_id v) {
    ints kernel;
    const std::int64_t kind = between(0, 9);
    const bool transposed = kind<5, pools = kind> 8;
    attributes a = window_attributes(kernel, transposed);
    if (pools) {
      a["kernel_shape"] = kernel;
      a.erase("dilations");
      const bool average = one_in(2);
      if (average && one_in(2)) a["count_include_pad"] = std::int64_t{1};
      return node(average ? "AveragePool" : "MaxPool", {v}, a);
    }
    const std::int64_t per_group = pick({1, 1, 2, 3}), outputs = per_group * m_groups;
    shape_t weights = transposed ? shape_t{m_channels, per_group} : shape_t{outputs, m_channels / m_groups};
    weights.insert(weights.end(), kernel.begin(), kernel.end());
    std::vector<value_id> inputs = {v, numbers(weights)};
    if (one_in(2)) inputs.push_back(numbers({outputs}));
    a["group"] = m_groups;
    m_channels = outputs;
    return node(transposed ? "ConvTranspose" : "Conv", inputs, a);
  }

  graph_builder m_builder;
  std::size_t m_dims = 2;
  std::int64_t m_groups = 1, m_channels = 1;
  shape_t m_shape;
  int m_count = 0;
  std::string m_text;
};

/// x + c before a transposed convolution with weights of ones.
graph sum_before_transposition(shape_t x, shape_t weights, attributes a) {
  graph_builder b(17);
  shape_t column(x.size(), 1);
  column[1] = x[1];
  const auto ones = [&](const std::string& name, const shape_t& shape, float first) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count_of(shape); ++i) values.push_back(first + 0.25f * static_cast<float>(i % 7));
    return b.floats(name, shape, values);
  };
  const value_id sum = b.node_of("Add", {b.input("x", std::move(x)), ones("c", column, 20)}, "sum");
  b.output(b.node_of("ConvTranspose", {sum, ones("w", weights, 1)}, "y", std::move(a)));
  return b.g;
}

}

TEST_CASE("a sum before a transposed convolution stays where the window reads behind the input") {
  const std::string lower = "SAME_LOWER", upper = "SAME_UPPER";
  for (std::int64_t size : {3, 4, 5})
    for (std::int64_t stride : {1, 2, 3})
      for (const std::string& mode : {lower, upper}) {
        CAPTURE(size);
        CAPTURE(stride);
        CHECK(error_of(sum_before_transposition({1, 3, size, size}, {3, 4, 2, 2},
                                                {{"auto_pad", mode}, {"strides", ints{stride, stride}}})) <= tolerance);
      }
  CHECK(error_of(sum_before_transposition(
            {1, 3, 6, 6}, {3, 4, 8, 8},
            {{"strides", ints{6, 6}}, {"pads", ints{2, 2, 2, 2}}, {"output_padding", ints{5, 5}}})) <= tolerance);
  CHECK(error_of(sum_before_transposition({1, 6, 1}, {6, 1, 2}, {{"output_shape", ints{1}}})) <= tolerance);
}

TEST_CASE("windows of every geometry with neighbours before and behind compute what the evaluator does") {
  std::map<std::string, std::vector<unsigned>> refused;  // seeds by reason
  int compared = 0;
  for (unsigned seed = 0; seed < random_networks; ++seed) {
    random_network sampled(seed);
    try {
      const double error = error_of(sampled.network());
      ++compared;
      if (error > tolerance) FAIL_CHECK("seed " << seed << " (" << sampled.text() << "): error " << error);
    } catch (const error& e) {
      const std::string message = e.what();
      refused[message.substr(message.rfind(": ") == std::string::npos ? 0 : message.rfind(": ") + 2)].push_back(seed);
    }
  }
  for (const auto& [reason, seeds] : refused)
    MESSAGE(seeds.size() << " refused, seed " << seeds.front() << " first: " << reason);
  MESSAGE(compared << " networks compared");
  CHECK(compared >= min_compared);
}
