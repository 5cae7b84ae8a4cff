// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include "engine/model_file.hpp"
#include "resolve/infer.hpp"
#include "compile/compile.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

namespace {

/// Number of steps with this operator in the plan of a graph.
int steps_with(nsk::op wanted, graph g) {
  resolve(g, {});
  const model_file file = open_model(compile({{"default", g}}, {}), "test");
  const nsk::variant_view v = file.view.variant();
  int count = 0;
  for (int i = 0; i < v.step_count(); ++i) count += v.step(i).op() == wanted ? 1 : 0;
  return count;
}

/// A pool, and behind it a Pad by these numbers.
graph pooled_and_padded(const std::vector<std::int64_t>& pads) {
  nsk::test::graph_builder b;
  const value_id x = b.input("x", {1, 16, 8, 8});
  const std::vector<std::int64_t> halves{2, 2};
  const value_id pooled = b.node_of("MaxPool", {x}, "pooled", {{"kernel_shape", halves}, {"strides", halves}});
  b.output(b.node_of("Pad", {pooled, b.ints("pads", pads)}, "y"));
  return b.g;
}

}

TEST_CASE("a pool writes straight between appended channels; along two axes it is copied") {
  const graph channels = pooled_and_padded({0, 3, 0, 0, 0, 13, 0, 0});
  CHECK(steps_with(nsk::op::copy, channels) == 0);
  CHECK(steps_with(nsk::op::fill, channels) == 2);
  CHECK(steps_with(nsk::op::copy, pooled_and_padded({0, 0, 0, 0, 0, 16, 0, 1})) > 0);
}

TEST_CASE("maxima of large windows are taken along one axis, then along the other, where that compares half as often") {
  using integers = std::vector<std::int64_t>;
  const auto pools = [](const std::string& op, integers kernel, integers strides, integers pads) {
    nsk::test::graph_builder b;
    const value_id x = b.input("x", {1, 16, 20, 24});
    const value_id y = b.node_of(op, {x}, "y", {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}});
    b.output(y);
    return steps_with(nsk::op::pool_2d, b.g);
  };
  CHECK(pools("MaxPool", {5, 5}, {1, 1}, {2, 2, 2, 2}) == 2);
  CHECK(pools("MaxPool", {13, 13}, {1, 1}, {6, 6, 6, 6}) == 2);
  CHECK(pools("MaxPool", {7, 7}, {2, 2}, {3, 3, 2, 2}) == 2);
  CHECK(pools("MaxPool", {3, 3}, {1, 1}, {1, 1, 1, 1}) == 1);
  CHECK(pools("MaxPool", {5, 5}, {2, 2}, {2, 2, 2, 2}) == 1);
  CHECK(pools("MaxPool", {1, 9}, {1, 1}, {0, 4, 0, 4}) == 1);
  CHECK(pools("MaxPool", {20, 24}, {1, 1}, {0, 0, 0, 0}) == 1);
  CHECK(pools("AveragePool", {5, 5}, {1, 1}, {2, 2, 2, 2}) == 1);
}

TEST_CASE(
    "the phases of a transposed convolution to few channels are one convolution where they read the same pixels") {
  using integers = std::vector<std::int64_t>;
  const auto convolutions = [](std::int64_t outputs, std::int64_t kernel, std::int64_t group) {
    nsk::test::graph_builder b;
    const value_id x = b.input("x", {1, 8, 5, 6});
    const shape_t shape{8, outputs / group, kernel, kernel};
    const value_id w = b.floats("w", shape, std::vector<float>(static_cast<std::size_t>(count_of(shape)), 0.5f));
    b.output(b.node_of("ConvTranspose", {x, w}, "y", {{"strides", integers{2, 2}}, {"group", group}}));
    return steps_with(nsk::op::conv_2d, b.g);
  };
  CHECK(convolutions(1, 2, 1) == 1);
  CHECK(convolutions(4, 2, 1) == 1);
  CHECK(convolutions(5, 2, 1) == 4);
  CHECK(convolutions(1, 3, 1) == 4);
  CHECK(convolutions(2, 2, 2) == 4);
}

TEST_CASE("the mean of a large image is taken of runs of its rows first, which are the lanes' own") {
  const auto reductions = [](shape_t shape, std::vector<std::int64_t> axes) {
    nsk::test::graph_builder b;
    const value_id x = b.node_of("LRN", {b.input("x", std::move(shape))}, "channels_last", {{"size", std::int64_t{3}}});
    b.output(b.node_of("ReduceMean", {x}, "y", {{"axes", std::move(axes)}}));
    return steps_with(nsk::op::reduce, b.g);
  };
  CHECK(reductions({1, 64, 56, 56}, {2, 3}) == 2);
  CHECK(reductions({1, 64, 37, 56}, {2, 3}) == 1);  // 37 rows have no runs of one length
  CHECK(reductions({1, 64, 7, 7}, {2, 3}) == 1);
  CHECK(reductions({4, 64, 56, 56}, {2, 3}) == 2);  // each image as if it were alone
  CHECK(reductions({40, 64, 7, 7}, {2, 3}) == 1);
  CHECK(reductions({1, 64, 56, 56}, {1}) == 1);
}

TEST_CASE("products of heads are written beside each other where one line of all of them is wanted") {
  const auto copies = [](std::int64_t batch, std::vector<std::int64_t> permutation) {
    nsk::test::graph_builder b;
    const value_id x = b.input("x", {batch, 4, 8, 16}), w = b.input("w", {batch, 4, 16, 6});
    const value_id product = b.node_of("MatMul", {x, w}, "product");
    const value_id transposed = b.node_of("Transpose", {product}, "transposed", {{"perm", std::move(permutation)}});
    b.output(b.node_of("Reshape", {transposed, b.ints("shape", {batch, -1, 24})}, "y"));
    return steps_with(nsk::op::copy, b.g);
  };
  CHECK(copies(1, {0, 2, 1, 3}) == 0);
  CHECK(copies(2, {0, 2, 1, 3}) == 1);  // images and heads are no longer one axis
  CHECK(copies(1, {0, 2, 3, 1}) == 1);  // kernels write neighbours
}

TEST_CASE("operators that are composed of others take a single number without axes") {
  for (const std::string op :
       {"Celu", "Gelu", "Mish", "Selu", "Shrink", "Softsign", "Swish", "ThresholdedRelu", "Not", "IsNaN"}) {
    CAPTURE(op);
    nsk::test::graph_builder b(24);
    std::map<std::string, attribute> attributes;
    if (op == "Gelu") attributes["approximate"] = std::string("tanh");
    const value_id x = b.input("x", {}, op == "Not" ? element::boolean : element::f32);
    b.output(b.node_of(op, {x}, "y", attributes));
    resolve(b.g, {});
    const model_file file = open_model(compile({{"default", b.g}}, {}), "test");
    CHECK(file.view.variant().output(0).source_shape().empty());
  }
}

TEST_CASE("one line many times over is a broadcast, and a list of images is a concatenation") {
  const auto repeated = [](shape_t shape, std::int64_t axis) {
    nsk::test::graph_builder b;
    const value_id x = b.input("x", std::move(shape));
    b.output(b.node_of("Concat", {x, x, x, x}, "y", {{"axis", axis}}));
    return steps_with(nsk::op::copy, b.g);
  };
  CHECK(repeated({1, 8}, 0) == 1);
  CHECK(repeated({2, 8}, 0) == 4);
}
