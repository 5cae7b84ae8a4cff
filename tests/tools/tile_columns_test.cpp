// SPDX-License-Identifier: MIT
// Columns of a product are cut in panels that kernels multiply in threes.
#include <doctest/doctest.h>

#include <netsuke/format/packing.hpp>

#include "ops/impl/tile_sizes.hpp"

namespace {

/// Columns of a tile of `rows` rows by a matrix of `depth` x `channels`, all where it has them all.
std::int64_t columns_of(std::int32_t rows, std::int32_t depth, std::int32_t channels) {
  nsk::tool::plan layout;
  const auto add = [&](std::vector<std::int32_t> shape) {
    nsk::tool::plan_tensor t;
    t.shape = {shape.begin(), shape.end()};
    layout.tensors.push_back(t);
    return static_cast<int>(layout.tensors.size()) - 1;
  };
  nsk::tool::plan_step step;
  step.inputs = {add({rows, depth}), add({depth, channels})};
  step.outputs = {add({rows, channels})};
  step.macs = std::int64_t{rows} * depth * channels;
  const nsk::tool::tile_request r{layout, step, 4'000'000};
  const std::int64_t columns = nsk::tool::gemm_tile_size(r, layout.tensor(step.inputs[1]), depth).channels;
  return columns == 0 ? channels : columns;
}

}

TEST_CASE("tile columns: matrices of many panels are cut in threes of them, or not at all") {
  int cuts = 0;
  for (const std::int32_t rows : {197, 784, 3136})
    for (const std::int32_t depth : {96, 256, 512})
      for (const std::int32_t panels : {12, 18, 24, 36, 48, 72}) {
        const std::int32_t channels = panels * nsk::panel_width;
        const std::int64_t columns = columns_of(rows, depth, channels);
        CAPTURE(rows);
        CAPTURE(depth);
        CAPTURE(channels);
        CHECK(columns % (3 * nsk::panel_width) == 0);
        cuts += columns < channels ? 1 : 0;
      }
  CHECK(cuts > 20);
}

TEST_CASE("tile columns: no tile but the last is a single panel") {
  for (std::int32_t channels = 64; channels <= 1280; channels += 8) {
    CAPTURE(channels);
    const std::int64_t columns = columns_of(784, 256, channels);
    CHECK((columns == channels || columns % nsk::panel_width == 0));
    CHECK((columns == channels || columns / nsk::panel_width != 1));
  }
}
