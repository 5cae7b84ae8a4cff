// SPDX-License-Identifier: MIT
// Networks for chunks: what they compute is compared with the whole signal, and a fault that is put into one is found.
#include "chunks/compare.hpp"

#include <doctest/doctest.h>

#include "errors.hpp"
#include "resolve/infer.hpp"
#include "resolve/states.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::test;

namespace {

constexpr std::int64_t chunk = 6, samples = 60;

std::vector<float> numbers(std::size_t count) {
  std::vector<float> v;
  for (std::size_t i = 0; i < count; ++i) v.push_back(0.3f * static_cast<float>((i * 7) % 11) - 1.2f);
  return v;
}

/// Two causal convolutions, of which the second one has a stride of 2, and a layer over time.
graph model() {
  graph_builder b(17);
  const value_id x = b.input("x", {1, 2, -1});
  const auto conv = [&](value_id from, const std::string& name, shape_t weights, std::int64_t pad,
                        std::int64_t stride) {
    const value_id w = b.floats(name + ".w", weights, numbers(static_cast<std::size_t>(count_of(weights))));
    return b.node_of("Conv", {from, w}, name,
                     {{"pads", std::vector<std::int64_t>{pad, 0}}, {"strides", std::vector<std::int64_t>{stride}}});
  };
  const value_id y = conv(b.node_of("Tanh", {conv(x, "a", {3, 2, 4}, 3, 1)}, "t"), "b", {3, 3, 3}, 1, 2);
  const value_id rows = b.node_of("Transpose", {y}, "rows", {{"perm", std::vector<std::int64_t>{2, 0, 1}}});
  const value_id w = b.floats("w", {1, 6, 3}, numbers(18)), r = b.floats("r", {1, 6, 2}, numbers(12));
  b.output(b.node_of("GRU", {rows, w, r}, "z", {{"hidden_size", std::int64_t{2}}}));
  return b.g;
}

chunks::whole_source resolved(const graph& source) {
  return [source](std::int64_t length) {
    chunks::whole_model m{source, {}};
    for (const value_id v : m.g.inputs)
      for (std::int64_t& n : m.g.at(v).shape) n = n < 0 ? length : n;
    resolve(m.g, {});
    m.states = states_of(m.g, {});
    return m;
  };
}

chunks::network made() {
  const graph source = model();
  return chunks::in_chunks({"N", chunk, 0}, source, resolved(source));
}

/// Whether the comparison finds something.
bool finds_fault(const chunks::network& net) {
  try {
    chunks::compare_with_whole(net, chunk, resolved(model()), resolved(net.g), samples);
  } catch (const error& e) {
    CHECK(e.code == exit_code::check_failed);
    return true;
  }
  return false;
}

/// The constants of Slices whose results states keep.
std::vector<value_id> kept_parts(const graph& g) {
  std::vector<value_id> starts;
  for (const node& n : g.nodes)
    if (n.op == "Slice" && g.at(n.inputs[1]).constant->integer(0) < 0) starts.push_back(n.inputs[1]);
  return starts;
}

}

TEST_CASE("chunks: what came before becomes states") {
  const chunks::network net = made();
  CHECK(net.step == 2);
  CHECK(net.g.states.size() == 3);  // of two windows and a layer over time
  CHECK(net.outputs.size() == 1);
  CHECK(net.outputs[0].c.down == 2);
  CHECK(net.outputs[0].c.late == 0);
  CHECK_FALSE(finds_fault(net));
}

TEST_CASE("chunks: a state that keeps other samples is found") {
  const chunks::network net = made();
  REQUIRE(kept_parts(net.g).size() == 2);
  for (const value_id v : kept_parts(net.g)) {
    chunks::network wrong = net;
    for (node& n : wrong.g.nodes)
      if (n.op == "Slice" && n.inputs[1] == v) {
        const std::int64_t count = -net.g.at(v).constant->integer(0);
        n.inputs[1] = wrong.g.add_constant("wrong.from", make_ints({1}, {-count - 1}));
        n.inputs[2] = wrong.g.add_constant("wrong.to", make_ints({1}, {-1}));
      }
    CHECK(finds_fault(wrong));
  }
}

TEST_CASE("chunks: a state that begins with other numbers is found") {
  for (std::size_t i = 0; i < 3; ++i) {
    chunks::network wrong = made();
    state_link& s = wrong.g.states[i];
    array first(element::f32, wrong.g.at(wrong.g.find(s.input)).shape);
    first.set(0, 0.5);
    s.initial = std::make_shared<const array>(first);
    CHECK(finds_fault(wrong));
  }
}

TEST_CASE("chunks: an output that is later than it is said to be is found") {
  chunks::network wrong = made();
  wrong.outputs[0].c.late = 1;
  CHECK(finds_fault(wrong));
}

TEST_CASE("chunks: lengths and texts") {
  const chunks::choice c = chunks::parse_choice("N", "160+12");
  CHECK(c.chunk == 160);
  CHECK(c.late == 12);
  for (const char* text : {"", "0", "-1", "8+", "8+x", "8-1", "9999999999"})
    CHECK_THROWS_AS(chunks::parse_choice("N", text), error);
  const graph source = model();
  CHECK_THROWS_AS(chunks::in_chunks({"N", 7, 0}, source, resolved(source)), error);
}
