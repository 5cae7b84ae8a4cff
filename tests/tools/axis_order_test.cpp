// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>

#include "compile/compile.hpp"
#include "engine/model_file.hpp"
#include "check/axis_order.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;
using nsk::test::graph_builder;

namespace {

constexpr double tolerance = 1e-5;
const std::vector<int> channels_last = {0, 2, 3, 1};

/// Numbers of the shape [1, 8, 6, 11]; all of them nearly alike where `spread` is small.
array numbers(float spread) {
  array a(element::f32, {1, 8, 6, 11});
  for (std::int64_t i = 0; i < a.count(); ++i) a.as<float>()[i] = 1 + spread * static_cast<float>(i * 37 % 101);
  return a;
}

/// The numbers of `a` in the order of the engine, as a tensor of `shape`.
array stored(const array& a, const shape_t& shape) {
  array result(element::f32, shape);
  for (std::int64_t c = 0; c < 8; ++c)
    for (std::int64_t p = 0; p < 66; ++p) result.as<float>()[p * 8 + c] = a.as<float>()[c * 66 + p];
  return result;
}

std::vector<int> order_of(const array& got, const array& wanted, std::vector<int> expected = {}) {
  measure_in_any_order(got, wanted, 0, tolerance, expected);
  return expected;
}

}

TEST_CASE("a tensor of few different numbers is compared in the order of its axes") {
  const shape_t shape = {1, 6, 7, 10, 8};
  array wanted(element::f32, shape), got(element::f32, {1, 10, 6, 7, 8});
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    const std::int64_t w = i % 8, h = i / 8 % 10, d = i / 80 % 7, c = i / 560;
    const float x = c == 1 && d == 2 && h == 3 ? 0.0f : 1.0f;
    wanted.as<float>()[i] = x;
    got.as<float>()[((h * 6 + c) * 7 + d) * 8 + w] = x;
  }
  std::vector<int> order;
  CHECK(measure_in_any_order(got, wanted, 0, tolerance, order).max_error == 0);
  CHECK(order == std::vector<int>{0, 3, 1, 2, 4});
  got.as<float>()[100] = 0.5f;
  CHECK(measure_in_any_order(got, wanted, 0, tolerance, order).max_error == 0.5);
}

TEST_CASE("the shape of a tensor says which order its axes have where its numbers say nothing") {
  const array alike = numbers(1e-8f);
  CHECK(order_of(stored(alike, {1, 6, 11, 8}), alike) == channels_last);
  CHECK(order_of(stored(alike, {66, 8}), alike) == channels_last);
  array overflowed = stored(numbers(1), {1, 6, 11, 8});
  overflowed.as<float>()[17] = std::numeric_limits<float>::quiet_NaN();
  CHECK(order_of(overflowed, numbers(1)) == channels_last);
  array flat = stored(numbers(1), {528});
  flat.as<float>()[17] = std::numeric_limits<float>::quiet_NaN();
  CHECK(order_of(flat, numbers(1)) == channels_last);
}

TEST_CASE("a tensor whose numbers are wrong stays in the order that is expected") {
  const array wanted = numbers(1);
  array wrong = stored(wanted, {528});
  for (std::int64_t i = 0; i < 528; ++i) wrong.as<float>()[i] = static_cast<float>(i * 61 % 53);
  CHECK(order_of(wrong, wanted, channels_last) == channels_last);
  CHECK(order_of(wrong, wanted, {0, 3, 1, 2}) == std::vector<int>{0, 3, 1, 2});
  SUBCASE("but not where its shape has no such order") {
    wrong.shape = {1, 6, 11, 8};
    CHECK(order_of(wrong, wanted, {0, 3, 1, 2}) == channels_last);
  }
  SUBCASE("nor where another explains it") {
    CHECK(order_of(stored(wanted, {528}), wanted, {0, 3, 1, 2}) == channels_last);
  }
}

TEST_CASE("numbers that explain an order which the shape forbids are taken in it") {
  const array wanted = numbers(1);
  CHECK(order_of(stored(wanted, {8, 66}), wanted) == channels_last);
}

TEST_CASE("orders go from the ports through nodes that keep the dimensions") {
  graph_builder b;
  const value_id x = b.input("x", {1, 8, 6, 11});
  const value_id relu = b.node_of("Relu", {x}, "relu");
  const value_id transposed =
      b.node_of("Transpose", {relu}, "transposed", {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  b.g.outputs.push_back(transposed);
  resolve(b.g, {});
  const model_file file = open_model(compile({{"default", b.g}}, {}), "test");
  axis_orders orders(b.g, file.view.variant());
  const auto name = [&](value_id v) { return b.g.values[static_cast<std::size_t>(v)].name; };
  const std::vector<int> of_input = orders.expected(name(relu));
  const auto axes = file.view.variant().input(0).source_axes();
  CHECK(of_input == std::vector<int>(axes.begin(), axes.end()));
  CHECK(orders.expected(name(transposed)).empty());
  CHECK(orders.expected("unknown").empty());
}
