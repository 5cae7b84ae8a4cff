// SPDX-License-Identifier: MIT
// Errors beside what the windows of a convolution hold: far from a bright pixel they are held against dark ones.
#include <doctest/doctest.h>

#include "reference/evaluator.hpp"
#include "check/receptive_fields.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

namespace {

array dark_image(std::int64_t side) {
  array x(element::f32, {1, 1, side, side});
  for (std::int64_t i = 0; i < x.count(); ++i) x.set(i, 0.25);
  return x;
}

struct measured {
  double near, far;
};

/// What an error of 0.5 counts as at the bright pixel, and where no window holds it.
measured errors_of(const std::string& follower) {
  constexpr std::int64_t side = 9, middle = side * (side / 2) + side / 2;
  nsk::test::graph_builder b;
  const value_id x = b.input("x", {1, 1, side, side}), w = b.floats("w", {1, 1, 3, 3}, std::vector<float>(9, 0.5f));
  const value_id conv = b.node_of("Conv", {x, w}, "conv", {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  b.output(follower.empty() ? conv : b.node_of(follower, {conv}, "y"));
  resolve(b.g, {});
  array image = dark_image(side);
  image.set(middle, 1000);
  receptive_fields fields(b.g);
  REQUIRE_FALSE(fields.empty());
  const std::string name = follower.empty() ? "conv" : "y";
  CHECK_FALSE(fields.error_of(name, image, image));  // the input was not seen yet
  fields.see("x", image);
  const array right = evaluator(b.g).run({{"x", image}}).at(name);
  const auto off_at = [&](std::int64_t place) {
    array got = converted(right, element::f32);
    CHECK(*fields.error_of(name, got, right) < 1e-6);
    got.set(place, got.number(place) + 0.5);
    return *fields.error_of(name, got, right);
  };
  return {off_at(middle), off_at(0)};
}

}

TEST_CASE("windows: the same error is small beside a bright pixel and large beside dark ones") {
  for (const char* follower : {"", "Relu"}) {
    CAPTURE(follower);
    const measured m = errors_of(follower);
    CHECK(m.near == doctest::Approx(0.5 / (1000 * 0.5)));
    CHECK(m.far == doctest::Approx(0.5 / (0.25 * 0.5)));
  }
}

TEST_CASE("windows: strides, dilations, padding and groups are those of the convolution") {
  nsk::test::graph_builder b;
  const value_id x = b.input("x", {1, 2, 5, 5}), w = b.floats("w", {2, 1, 1, 3}, {1, 1, 1, 2, 2, 2});
  b.output(b.node_of("Conv", {x, w}, "y",
                     {{"strides", std::vector<std::int64_t>{2, 2}},
                      {"dilations", std::vector<std::int64_t>{1, 2}},
                      {"pads", std::vector<std::int64_t>{0, 2, 0, 2}},
                      {"group", std::int64_t{2}}}));
  resolve(b.g, {});
  array image(element::f32, {1, 2, 5, 5});
  for (std::int64_t i = 0; i < image.count(); ++i) image.set(i, i < 25 ? 1 : 4);
  image.set(25 + 12, 64);  // of the second group, row 2, column 2
  receptive_fields fields(b.g);
  fields.see("x", image);
  const array right = evaluator(b.g).run({{"x", image}}).at("y");
  REQUIRE(right.shape == shape_t{1, 2, 3, 3});
  const auto scale_at = [&](std::int64_t place) {
    array got = right;
    got.set(place, right.number(place) + 1);
    return 1 / *fields.error_of("y", got, right);
  };
  CHECK(scale_at(4) == doctest::Approx(1));        // another group
  CHECK(scale_at(9 + 4) == doctest::Approx(128));  // row 2, columns 0, 2, 4
  CHECK(scale_at(9 + 3) == doctest::Approx(128));  // row 2, columns 0, 2 and padding
  CHECK(scale_at(9 + 1) == doctest::Approx(8));    // row 0
}
