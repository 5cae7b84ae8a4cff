// SPDX-License-Identifier: MIT
// States from the source model to the session: found, asked for, refused; saved, loaded and replayed.
#include "resolve/states.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <netsuke/netsuke.hpp>
#include <random>

#include "engine/engine.hpp"
#include "errors.hpp"
#include "resolve/infer.hpp"
#include "graph_builder.hpp"
#include "compile/compile.hpp"

namespace {

using namespace nsk::test;

/// A graph whose outputs are sums of their input, in order, and the first one.
graph copies(const std::vector<std::pair<std::string, std::string>>& ports, const shape_t& shape = {1, 4}) {
  graph_builder b;
  value_id first = no_value;
  for (const auto& [input, output] : ports) {
    const value_id x = b.input(input, shape);
    if (first == no_value) first = x;
    b.output(b.node_of("Add", {first, x}, output));
  }
  graph g = b.g;
  resolve(g, {});
  return g;
}

std::string links_of(const graph& g, const state_options& options = {}) {
  std::string text;
  for (const state_link& s : states_of(g, options)) text += s.input + ">" + s.output + " ";
  return text;
}

std::string refusal(const graph& g, const state_options& options) {
  try {
    states_of(g, options);
  } catch (const error& e) {
    CHECK(e.code == exit_code::usage);
    return e.what();
  }
  return "";
}

TEST_CASE("states: names that make it plain, and names that do not") {
  for (const auto& [before, after] :
       std::vector<std::pair<std::string, std::string>>{{"state", "stateN"},
                                                        {"h", "hn"},
                                                        {"h0", "hn"},
                                                        {"c_0", "c_n"},
                                                        {"hidden_in", "hidden_out"},
                                                        {"cell_state", "new_cell_state"},
                                                        {"past_state", "present_state"},
                                                        {"prev_memory", "next_memory"},
                                                        {"conv_cache", "conv_cache_out"},
                                                        {"in_cache0", "out_cache0"},
                                                        {"in_cache12", "out_cache12"},
                                                        {"cache_in", "cache_out"},
                                                        {"cache_in_1", "cache_out_1"},
                                                        {"cached_avg_3", "new_cached_avg_3"},
                                                        {"h_in", "h_out"},
                                                        {"state_in1", "state_out1"},
                                                        {"h_in_2", "h_out_2"}})
    CHECK(links_of(copies({{"x", "y"}, {before, after}})) == before + ">" + after + " ");
  for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{{"image_in", "image_out"},
                                                                                      {"input", "output"},
                                                                                      {"in", "out"},
                                                                                      {"x", "xn"},
                                                                                      {"state", "estate"},
                                                                                      {"state", "next_state"},
                                                                                      {"state", "state_next"},
                                                                                      {"state", "status_out"},
                                                                                      {"h", "chn"},
                                                                                      {"in_cache0", "out_cache1"},
                                                                                      {"in_cache1", "out_cache11"},
                                                                                      {"image_in_1", "image_out_1"},
                                                                                      {"state_1", "next_state_1"},
                                                                                      {"1", "cache1"}})
    CHECK(links_of(copies({{"x0", "y"}, {before, after}})).empty());
  CHECK(links_of(copies({{"x", "y"}, {"in_cache0", "out_cache0"}, {"in_cache1", "out_cache1"}})) ==
        "in_cache0>out_cache0 in_cache1>out_cache1 ");
  CHECK(links_of(copies({{"x", "y"}, {"h", "hn"}, {"c", "cn"}})) == "h>hn c>cn ");
  CHECK(links_of(copies({{"h", "hn"}})).empty());  // nothing would be left to feed or to read
  CHECK(links_of(copies({{"x", "y"}, {"h", "hn"}}), {{}, false}).empty());
}

TEST_CASE("states: an output that takes in no other input is none") {
  for (const bool takes_in : {false, true}) {
    graph_builder b;
    const value_id x = b.input("x", {1, 4}), h = b.input("h", {1, 4}), c = b.input("c", {1, 4});
    b.output(b.node_of("Add", {x, h}, "y"));
    b.output(b.node_of("Add", {takes_in ? x : h, c}, "hn"));
    b.output(b.node_of("Add", {h, c}, "cn"));
    resolve(b.g, {});
    CHECK(links_of(b.g) == (takes_in ? "h>hn c>cn " : ""));
  }
}

TEST_CASE("states: those that are asked for, and what is refused") {
  const graph g = copies({{"x", "y"}, {"a", "b"}});
  CHECK(links_of(g, {{{"a", "b"}}, true}) == "a>b ");
  CHECK(refusal(g, {{{"z", "b"}}, true}).find("no input 'z'") != std::string::npos);
  CHECK(refusal(g, {{{"a", "z"}}, true}).find("no output 'z'") != std::string::npos);
  CHECK(refusal(g, {{{"a", "b"}, {"x", "b"}}, true}).find("feeds two inputs") != std::string::npos);
  graph_builder b;
  b.output(b.node_of("Relu", {b.input("x", {1, 4})}, "y"));
  b.output(b.node_of("Flatten", {b.input("h", {1, 2, 2})}, "hn"));
  resolve(b.g, {});
  CHECK(links_of(b.g).empty());
  CHECK(refusal(b.g, {{{"h", "hn"}}, true}).find("must keep its type and shape") != std::string::npos);
}

/// An LSTM of 5 inputs and 6 hidden elements, one time step a run, whose states are h and c.
std::vector<std::byte> lstm_file() {
  std::mt19937 random(3);
  const auto many = [&](std::size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = static_cast<float>(static_cast<double>(random()) * 0x1p-31 - 1);
    return v;
  };
  graph_builder b;
  const value_id x = b.input("x", {1, 1, 5}), h = b.input("h0", {1, 1, 6}), c = b.input("c0", {1, 1, 6});
  const value_id w = b.floats("w", {1, 24, 5}, many(120)), r = b.floats("r", {1, 24, 6}, many(144));
  for (const value_id v : b.nodes("LSTM", {x, w, r, no_value, no_value, h, c}, {"y", "hn", "cn"})) b.output(v);
  resolve(b.g, {});
  const std::vector<state_link> states = states_of(b.g, {});
  REQUIRE(states.size() == 2);
  return compile({{"default", b.g, states}}, {});
}

/// What lstm_file() needs.
struct lstm_settings : nsk::default_settings {
  using ops = nsk::op_list<nsk::op::recurrent, nsk::op::copy, nsk::op::fully_connected>;
  using functions = nsk::function_list<nsk::function::identity>;
};

/// A session, and the frames that it is fed.
struct character {
  const aligned_bytes& file;
  nsk::model model;
  aligned_bytes memory;
  nsk::session<lstm_settings> net;

  explicit character(const aligned_bytes& f) : file(f), memory(opened().required_bytes()) {
    net = nsk::session<lstm_settings>(model, {memory.data(), memory.size()});
    REQUIRE(net.status());
  }
  nsk::model& opened() {
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    return model;
  }
  void feed(int frame) {
    float k = static_cast<float>(frame % 7) - 3;
    for (float& v : net.input<float>(0)) v = k = k * -0.5f + 0.3f;
  }
  std::vector<float> tick(int frame) {
    feed(frame);
    net.run();
    const nsk::span<const float> y = net.output<float>(0);
    return {y.begin(), y.end()};
  }
  std::vector<std::byte> saved() const {
    std::vector<std::byte> bytes(net.state_bytes());
    REQUIRE(net.save({bytes.data(), bytes.size()}));
    return bytes;
  }
  void load(const std::vector<std::byte>& bytes) { REQUIRE(net.load({bytes.data(), bytes.size()})); }
};

TEST_CASE("states: eight frames back, the same frames again, the same bits") {
  const aligned_bytes file(lstm_file());
  character net(file);
  CHECK(net.net.input_count() == 1);
  CHECK(net.net.output_count() == 1);
  CHECK(net.net.state_bytes() == 2 * 6 * sizeof(float));
  std::vector<std::vector<std::byte>> before;
  std::vector<std::vector<float>> results;
  for (int frame = 0; frame < 20; ++frame) {
    before.push_back(net.saved());
    results.push_back(net.tick(frame));
    if (frame > 0) CHECK(results[static_cast<std::size_t>(frame)] != results[static_cast<std::size_t>(frame) - 1]);
  }
  const std::vector<std::byte> last = net.saved();
  net.load(before[12]);
  CHECK(net.saved() == before[12]);
  for (int frame = 12; frame < 20; ++frame) CHECK(net.tick(frame) == results[static_cast<std::size_t>(frame)]);
  CHECK(net.saved() == last);
  net.net.reset();
  CHECK(net.saved() == before[0]);
  CHECK(net.tick(0) == results[0]);
}

TEST_CASE("states: many characters take turns in one session as in one session each") {
  const aligned_bytes file(lstm_file());
  character shared(file), first(file), second(file);
  std::vector<std::byte> memory[2] = {shared.saved(), shared.saved()};
  for (int frame = 0; frame < 6; ++frame)
    for (const std::size_t who : {0, 1}) {
      shared.load(memory[who]);
      const std::vector<float> got = shared.tick(frame * (who == 0 ? 1 : 3));
      memory[who] = shared.saved();
      CHECK(got == (who == 0 ? first.tick(frame) : second.tick(frame * 3)));
    }
}

TEST_CASE("states: an inference in slices changes them at its end, an abandoned one never") {
  const aligned_bytes file(lstm_file());
  character whole(file), sliced(file);
  for (int frame = 0; frame < 5; ++frame) {
    sliced.feed(frame + 1);
    REQUIRE_FALSE(sliced.net.run_for(nsk::work{1}));
    sliced.net.restart();
    CHECK(sliced.saved() == whole.saved());
    sliced.feed(frame);
    while (!sliced.net.run_for(nsk::work{1})) {
    }
    whole.tick(frame);
    CHECK(sliced.saved() == whole.saved());
  }
}
}
