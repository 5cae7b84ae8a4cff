// SPDX-License-Identifier: MIT
// Which layers are estimated faster as integers, by machine.
#include <doctest/doctest.h>

#include "quantize/choose/choose.hpp"
#include "quantize/choose/flow.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

namespace {

/// expand (1x1, 32 to 128), wide (3x3, 128 to 128, Relu), reduce (1x1, 128 to 32), whose result is added to the input;
/// then, where it `goes_on`, last (1x1, 32 to 8).
graph block_of_layers(bool goes_on = false) {
  nsk::test::graph_builder b;
  const auto weights = [&](const std::string& name, const shape_t& shape) {
    return b.floats(name, shape, std::vector<float>(static_cast<std::size_t>(count_of(shape)), 0.01f));
  };
  const value_id x = b.input("x", {1, 32, 56, 56});
  const value_id first = b.node_of("Conv", {x, weights("w0", {128, 32, 1, 1})}, "expanded");
  const value_id wide =
      b.node_of("Conv", {first, weights("w1", {128, 128, 3, 3})}, "wide", {{"pads", std::vector<std::int64_t>(4, 1)}});
  const value_id limited = b.node_of("Relu", {wide}, "limited");
  const value_id reduced = b.node_of("Conv", {limited, weights("w2", {32, 128, 1, 1})}, "reduced");
  const value_id sum = b.node_of("Add", {reduced, x}, "sum");
  b.output(goes_on ? b.node_of("Conv", {sum, weights("w3", {8, 32, 1, 1})}, "last") : sum);
  resolve(b.g, {});
  return b.g;
}

std::size_t floats_on(const graph& g, const char* name, const std::set<std::string>& kept = {}) {
  return choose_layers(g, layers_of(g), kept, {}, *find_target(name)).floats.size();
}

}

TEST_CASE("choose: Winograd's layers stay float32 where int8 is not twice as fast, and all where it is no faster") {
  const graph g = block_of_layers();
  const std::vector<float_layer> layers = layers_of(g);
  REQUIRE(layers.size() == 3);
  const layer_choice pc = choose_layers(g, layers, {}, {}, *find_target("pc"));
  CHECK(pc.floats.count(layers[1].name) == 1);
  CHECK(pc.cycles <= pc.float_cycles);
  const layer_choice vnni = choose_layers(g, layers, {}, {}, *find_target("pc-vnni"));
  CHECK(vnni.floats.empty());
  CHECK(vnni.cycles * 1.5 < vnni.float_cycles);
  CHECK(floats_on(g, "zen2-console") == 3);
  CHECK(floats_on(g, "mobile") == 0);
  CHECK(floats_on(g, "switch2") == 0);
  CHECK(find_target("size") == nullptr);
}

TEST_CASE("choose: a sum is part of the layer before it, and a step where that stays float32") {
  const graph g = block_of_layers(true);
  const std::vector<float_layer> layers = layers_of(g);
  REQUIRE(layers.size() == 4);
  const byte_flow flow = plan_flow(g, layers);
  REQUIRE(flow.joined.size() == 1);
  CHECK(flow.joined.begin()->first->op == "Add");
  CHECK(flow.joined.begin()->second == layers[2].node);
  CHECK(flow.stored.count(layers[2].output) == 0);
  const byte_flow without = plan_flow(g, {layers[0], layers[1], layers[3]});
  CHECK(without.joined.empty());
}

TEST_CASE("choose: what is kept stays float32, and no layer beside it pays for two conversions") {
  const graph g = block_of_layers();
  const std::vector<float_layer> layers = layers_of(g);
  const layer_choice c = choose_layers(g, layers, {layers[1].name}, {}, *find_target("pc-vnni"));
  CHECK(c.floats.count(layers[1].name) == 1);
  CHECK(c.cycles <= c.float_cycles);
  CHECK(floats_on(g, "pc-vnni", {layers[0].name, layers[1].name, layers[2].name}) == 3);
}
