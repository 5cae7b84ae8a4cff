// SPDX-License-Identifier: MIT
// Channels between layers are made alike, and the network computes the same numbers.
#include <doctest/doctest.h>

#include <cmath>

#include "quantize/apply/equalize.hpp"
#include "reference/evaluator.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

namespace {

/// Numbers without a pattern from -1 to 1, `count` of them.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> result;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    result.push_back(static_cast<float>(seed >> 8) * 0x1p-23f - 1);
  }
  return result;
}

array filled(const shape_t& shape, std::uint32_t seed) {
  return make_floats(shape, numbers(static_cast<std::size_t>(count_of(shape)), seed));
}

/// Numbers whose channels along axis 0 are `rise` times as large each as the one before.
array rising(const shape_t& shape, float rise, std::uint32_t seed) {
  array a = filled(shape, seed);
  const std::int64_t per_channel = count_of(shape) / shape[0];
  for (std::int64_t i = 0; i < a.count(); ++i)
    a.set(i, a.number(i) * std::pow(static_cast<double>(rise), static_cast<double>(i / per_channel)));
  return a;
}

/// Convolution (8 channels), `between`, depthwise, grouped (2 groups), mean of all, Gemm.
graph chain(const std::string& between) {
  nsk::test::graph_builder b;
  const value_id x = b.input("x", {1, 3, 9, 9});
  const value_id a =
      b.node_of("Conv", {x, b.constant("w0", rising({8, 3, 3, 3}, 3, 1)), b.floats("b0", {8}, numbers(8, 2))}, "a");
  const value_id limited =
      between == "Clip"    ? b.node_of("Clip", {a, b.floats("low", {}, {0}), b.floats("high", {}, {6})}, "limited")
      : between == "PRelu" ? b.node_of("PRelu", {a, b.floats("slope", {8, 1, 1}, numbers(8, 3))}, "limited")
                           : b.node_of(between, {a}, "limited");
  const value_id deep = b.node_of("Conv", {limited, b.constant("w1", rising({8, 1, 3, 3}, 0.5f, 4))}, "deep",
                                  {{"group", std::int64_t{8}}});
  const value_id grouped =
      b.node_of("Conv", {deep, b.constant("w2", rising({6, 4, 1, 1}, 5, 5)), b.floats("b2", {6}, numbers(6, 6))},
                "grouped", {{"group", std::int64_t{2}}});
  const value_id mean = b.node_of("GlobalAveragePool", {grouped}, "mean");
  const value_id flat = b.node_of("Flatten", {mean}, "flat");
  b.output(b.node_of("Gemm", {flat, b.constant("w3", filled({6, 4}, 7)), b.floats("b3", {4}, numbers(4, 8))}, "y"));
  resolve(b.g, {});
  return b.g;
}

array result_of(const graph& g) { return evaluator(g).run({{"x", filled({1, 3, 9, 9}, 9)}}).at("y"); }

/// The largest over the smallest magnitude of the output channels of a constant.
double spread(const graph& g, std::size_t node) {
  const array& w = *g.values[static_cast<std::size_t>(g.nodes[node].inputs[1])].constant;
  const std::int64_t per_channel = w.count() / w.shape[0];
  double smallest = INFINITY, largest = 0;
  for (std::int64_t c = 0; c < w.shape[0]; ++c) {
    double magnitude = 0;
    for (std::int64_t i = 0; i < per_channel; ++i)
      magnitude = std::max(magnitude, std::abs(w.number(c * per_channel + i)));
    smallest = std::min(smallest, magnitude);
    largest = std::max(largest, magnitude);
  }
  return largest / smallest;
}

}

TEST_CASE("equalize: channels are alike, and not one number of the results changes") {
  for (const char* between : {"Relu", "LeakyRelu", "PRelu", "Identity"}) {
    CAPTURE(between);
    graph g = chain(between);
    const array before = result_of(g);
    const double spread_before = spread(g, 0);
    CHECK(equalize(g, {}) == 3);
    CHECK(spread(g, 0) < spread_before / 10);
    const array after = result_of(g);
    for (std::int64_t i = 0; i < before.count(); ++i) CHECK(after.number(i) == before.number(i));
  }
}

TEST_CASE("equalize: a limit that is no number of the channel's own stays where it is") {
  for (const char* between : {"Clip", "Sigmoid"}) {
    CAPTURE(between);
    graph g = chain(between);
    const array before = result_of(g);
    CHECK(equalize(g, {}) == 2);
    const array after = result_of(g);
    for (std::int64_t i = 0; i < before.count(); ++i) CHECK(after.number(i) == before.number(i));
  }
}

TEST_CASE("equalize: by magnitudes that were measured, and not where weights would not stay exact") {
  graph g = chain("Relu");
  const array before = result_of(g);
  std::vector<std::string> asked;
  const auto measured = [&](const std::vector<std::string>& names) {
    asked = names;
    std::vector<std::vector<double>> result;
    for (const std::string& name : names) {
      const auto channels = static_cast<std::size_t>(g.values[static_cast<std::size_t>(g.find(name))].shape[1]);
      result.emplace_back(channels, 1.0);
      result.back()[0] = 1e4;
    }
    return result;
  };
  CHECK(equalize(g, measured) == 3);
  CHECK(asked == std::vector<std::string>{"limited", "deep", "flat"});
  const array after = result_of(g);
  for (std::int64_t i = 0; i < before.count(); ++i) CHECK(after.number(i) == before.number(i));

  graph tiny = chain("Relu");
  value& w = tiny.values[static_cast<std::size_t>(tiny.nodes[0].inputs[1])];
  array numbers = *w.constant;
  for (std::int64_t i = 0; i < numbers.count(); ++i) numbers.set(i, numbers.number(i) * 1e-41);
  w.constant = std::make_shared<const array>(numbers);
  const array small = result_of(tiny);
  equalize(tiny, {});
  const array same = result_of(tiny);
  for (std::int64_t i = 0; i < small.count(); ++i) CHECK(same.number(i) == small.number(i));
}

TEST_CASE("equalize: what something else reads is left alone") {
  graph g = chain("Relu");
  g.outputs.push_back(g.find("limited"));
  CHECK(equalize(g, {}) == 2);
}
