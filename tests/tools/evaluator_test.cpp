// SPDX-License-Identifier: MIT
// What the evaluator asks of its inputs and gives back; its operators are in reference_test.cpp.
#include "reference/evaluator.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "errors.hpp"
#include "graph_builder.hpp"

using namespace nsk::test;

namespace {

void check(const array& a, const shape_t& shape, const std::vector<double>& values) {
  CHECK(a.shape == shape);
  REQUIRE(a.count() == static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(a.number(static_cast<std::int64_t>(i)) == doctest::Approx(values[i]).epsilon(1e-12));
}

}

TEST_CASE("inputs are checked, intermediates can be kept, branches run") {
  graph_builder b;
  const value_id c = b.input("c", {}, element::boolean);
  b.node_of("Exp", {b.input("x", {-1, 2})}, "e");
  const auto branch = [](const std::string& op) {
    graph_builder inner;
    inner.output(inner.node_of(op, {inner.capture("e")}, "r"));
    return std::make_shared<graph>(inner.g);
  };
  b.output(b.node_of("If", {c}, "y", {{"then_branch", branch("Log")}, {"else_branch", branch("Neg")}}));
  const evaluator run(b.g);
  array yes(element::boolean, {});
  yes.set(0, 1);
  const array values = make_floats({1, 2}, {0, 1});
  check(run.run({{"x", values}, {"c", yes}}).at("y"), {1, 2}, {0, 1});
  yes.set(0, 0);
  const std::map<std::string, array> all = run.run({{"x", values}, {"c", yes}}, true);
  check(all.at("e"), {1, 2}, {1, std::exp(1.0)});
  check(all.at("y"), {1, 2}, {-1, -std::exp(1.0)});
  CHECK_THROWS_AS(run.run({{"x", values}}), error);
  for (const array& wrong : {make_floats({1, 3}, {0, 1, 2}), make_ints({1, 2}, {1, 2})})
    CHECK_THROWS_AS(run.run({{"x", wrong}, {"c", yes}}), error);
  CHECK_THROWS_AS(run.run({{"x", values}, {"c", yes}, {"z", yes}}), error);
}
