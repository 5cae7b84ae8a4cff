// SPDX-License-Identifier: MIT
// A lone thread takes the tiles of large steps alternately upwards and downwards, each tile once.
#include <doctest/doctest.h>

#include <cstring>

#include <netsuke/run/impl/serial.hpp>

#include "compile/compile.hpp"
#include "engine/engine.hpp"
#include "engine/model_file.hpp"
#include "io/layout.hpp"
#include "check/random_inputs.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::test;

namespace {

/// Five convolutions of 3x3 over square images of 16 channels.
graph chain(std::int64_t side) {
  graph_builder b;
  value_id v = b.input("x", {1, 16, side, side});
  const value_id weights = b.floats("w", {16, 16, 3, 3}, std::vector<float>(16 * 16 * 9, 0.01f));
  for (int i = 0; i < 5; ++i)
    v = b.node_of("Conv", {v, weights}, "v" + std::to_string(i), {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  b.output(v);
  resolve(b.g, {});
  return b.g;
}

model_file made_of(const graph& g) { return open_model(compile({{"default", g}}, {}), "chain"); }

/// Directions of all steps; every step's tiles are checked to come once each.
std::vector<int> directions(const model_file& file) {
  std::vector<int> found;
  nsk::impl::serial_tiles tiles{0, 0};
  const nsk::variant_view v = file.view.variant(0);
  for (int i = 0; i < v.step_count(); ++i) {
    const int count = v.step(i).tile_count();
    tiles = nsk::impl::tiles_after(tiles, v.step(i), count);
    found.push_back(tiles.by);
    std::vector<int> times(static_cast<std::size_t>(count), 0);
    nsk::impl::serial_tiles left = tiles;
    for (int tile = left.take(); tile >= 0; tile = left.take()) ++times.at(static_cast<std::size_t>(tile));
    CHECK(times == std::vector<int>(static_cast<std::size_t>(count), 1));
  }
  return found;
}

std::vector<float> output_of(const graph& g, const model_file& file, int lanes) {
  const auto runner = choose_engine("").open(file.bytes.data(), file.bytes.size(), lanes, 0);
  const array data = to_engine(file.view.input(0), random_inputs(g, file.view, 3).begin()->second);
  std::memcpy(runner->input(0), data.data.data(), data.data.size());
  runner->run();
  std::vector<float> result(file.view.output(0).bytes() / sizeof(float));
  std::memcpy(result.data(), runner->output(0), file.view.output(0).bytes());
  return result;
}

}

TEST_CASE("every other large step is taken downwards, with the same bits as on lanes") {
  const graph large = chain(128);
  const model_file file = made_of(large);
  CHECK(directions(file) == std::vector<int>{-1, 1, -1, 1, -1});
  CHECK(output_of(large, file, 1) == output_of(large, file, 3));
}

TEST_CASE("small steps are taken upwards") { CHECK(directions(made_of(chain(64))) == std::vector<int>(5, 1)); }
