// SPDX-License-Identifier: MIT
// Behind which values convolutions are direct ones, and where that ends.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "compile/compile.hpp"
#include "engine/model_file.hpp"
#include "ops/step_facts.hpp"
#include "resolve/infer.hpp"
#include "resolve/states.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

namespace {

constexpr std::int64_t channels = 32, side = 24;

/// A 3x3 convolution that is Winograd's where nothing speaks against it.
value_id convolution(nsk::test::graph_builder& b, value_id x, const std::string& output) {
  std::mt19937 random(1);
  std::vector<float> weights(channels * channels * 9);
  for (float& w : weights) w = static_cast<float>(static_cast<double>(random()) * 0x1p-32 - 0.5);
  const value_id w = b.floats(output + "_weights", {channels, channels, 3, 3}, weights);
  return b.node_of("Conv", {x, w}, output, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
}

/// By the name of its result, whether each convolution mixes windows.
std::map<std::string, bool> mixed_windows(const variant_source& v) {
  const model_file file = open_model(compile({v}, {}), "test");
  std::map<std::string, bool> mixed;
  for (int i = 0; i < file.view.variant().step_count(); ++i) {
    const nsk::step_view s = file.view.variant().step(i);
    if (s.op() == nsk::op::conv_2d) mixed[s.name()] = algorithm_of(s) != nsk::conv_algorithm::direct;
  }
  return mixed;
}
std::map<std::string, bool> mixed_windows(const graph& resolved, const std::set<std::string>& wide,
                                          const std::vector<state_link>& states = {}) {
  variant_source v{"default", resolved, states};
  v.wide_inputs = wide;
  return mixed_windows(v);
}

/// Whether a convolution behind `op` of a wide input mixes windows; the one before it must not.
bool mixes_behind(const std::string& op, std::map<std::string, attribute> attributes = {}) {
  nsk::test::graph_builder b;
  const value_id first = convolution(b, b.input("x", {1, channels, side, side}), "a");
  b.output(convolution(b, b.node_of(op, {first}, "between", std::move(attributes)), "y"));
  resolve(b.g, {});
  const std::map<std::string, bool> mixed = mixed_windows(b.g, {"x"});
  REQUIRE(mixed.size() == 2);
  CHECK_FALSE(mixed.begin()->second);
  return mixed.rbegin()->second;
}

}

TEST_CASE("convolutions are direct behind a wide input, up to what bounds its values") {
  for (const char* bounding : {"Sigmoid", "Tanh", "HardSigmoid", "Erf"}) {
    CAPTURE(bounding);
    CHECK(mixes_behind(bounding));
  }
  CHECK(mixes_behind("Softmax", {{"axis", std::int64_t{1}}}));
  for (const char* open : {"Relu", "LeakyRelu", "Elu", "Sqrt", "Softplus"}) {
    CAPTURE(open);
    CHECK_FALSE(mixes_behind(open));
  }
}

TEST_CASE("convolutions keep their algorithm where the wide input is another one, or none") {
  nsk::test::graph_builder b;
  b.output(convolution(b, b.input("x", {1, channels, side, side}), "y"));
  b.output(convolution(b, b.input("z", {1, channels, side, side}), "w"));
  resolve(b.g, {});
  for (const auto& [name, mixes] : mixed_windows(b.g, {})) CHECK(mixes);
  std::size_t direct = 0;
  for (const auto& [name, mixes] : mixed_windows(b.g, {"x"})) direct += mixes ? 0 : 1;
  CHECK(direct == 1);
}

TEST_CASE("convolutions are direct behind an addend, a clip beyond 256 and a state that are wide") {
  const auto clipped = [](float high) {
    nsk::test::graph_builder b;
    const value_id x = b.input("x", {1, channels, side, side}), low = b.floats("low", {}, {0}),
                   top = b.floats("top", {}, {high});
    b.output(convolution(b, b.node_of("Clip", {x, low, top}, "clipped"), "y"));
    resolve(b.g, {});
    return mixed_windows(b.g, {"x"}).begin()->second;
  };
  CHECK(clipped(6));
  CHECK_FALSE(clipped(65504));

  nsk::test::graph_builder b;
  const shape_t shape{1, channels, side, side};
  const value_id x = b.input("x", shape), h = b.input("h", shape);
  const value_id narrow = convolution(b, b.node_of("Tanh", {x}, "t"), "a");
  const value_id sum = b.node_of("Add", {narrow, x}, "hn");  // fused behind a convolution of narrow values
  b.output(sum);
  b.output(convolution(b, h, "y"));
  resolve(b.g, {});
  const std::map<std::string, bool> mixed = mixed_windows(b.g, {"x"}, {{"h", "hn"}});
  REQUIRE(mixed.size() == 2);
  std::size_t direct = 0;
  for (const auto& [name, mixes] : mixed) direct += mixes ? 0 : 1;
  CHECK(direct == 1);  // the one that reads the state
}

TEST_CASE("convolutions are direct that read an input of which nothing is said, those behind them are not") {
  const auto mixed = [](bool scaled) {
    nsk::test::graph_builder b;
    value_id x = b.input("x", {1, channels, side, side});
    if (scaled) x = b.node_of("Sqrt", {b.node_of("Relu", {x}, "positive")}, "scaled");
    b.output(convolution(b, b.node_of("Relu", {convolution(b, x, "a")}, "r"), "b"));
    resolve(b.g, {});
    variant_source v{"default", b.g};
    v.unknown_inputs = {"x"};
    return mixed_windows(v);
  };
  for (const bool scaled : {false, true}) {
    CAPTURE(scaled);
    const std::map<std::string, bool> found = mixed(scaled);
    REQUIRE(found.size() == 2);
    CHECK_FALSE(found.begin()->second);
    CHECK(found.rbegin()->second);
  }
}
