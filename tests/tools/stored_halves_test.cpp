// SPDX-License-Identifier: MIT
// Which stored integers a comparison takes over from the engine: those of halves, and no others.
#include <doctest/doctest.h>

#include "check/stored_halves.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

TEST_CASE("halves: an integer is taken over where the number before it is within rounding of a half") {
  nsk::test::graph_builder b;
  array zero(element::u8, {});
  zero.set_integer(0, 100);
  const value_id x = b.input("x", {6}), scale = b.floats("scale", {}, {0.5f}), zero_point = b.constant("zero", zero);
  const value_id real = b.node_of("Sigmoid", {x}, "real");
  b.output(b.node_of("QuantizeLinear", {real, scale, zero_point}, "stored"));
  resolve(b.g, {});

  stored_halves halves(b.g);
  array numbers(element::f64, {6});
  // a half, next to one on either side, past the margin, no half, the largest magnitude
  const double units[] = {2.5, 2.5 + 4e-6, 3.5 - 4e-6, 3.5 + 1e-2, 7.2, 10};
  for (std::int64_t i = 0; i < 6; ++i) numbers.set(i, 0.5 * units[i]);
  halves.see("real", numbers);
  array wanted(element::i64, {6}), got(element::u8, {6});
  const std::int64_t right[] = {102, 103, 103, 104, 107, 110}, other[] = {103, 102, 104, 103, 108, 110};
  for (std::int64_t i = 0; i < 6; ++i) wanted.set_integer(i, right[i]), got.set_integer(i, other[i]);
  CHECK(halves.take_over("another", got, wanted, 1e-6) == 0);
  CHECK(halves.take_over("stored", got, wanted, 1e-6) == 3);
  const std::int64_t after[] = {103, 102, 104, 104, 107, 110};
  for (std::int64_t i = 0; i < 6; ++i) CHECK(wanted.integer(i) == after[i]);
  // where every number is a half, so many are no accident
  array all(element::f64, {6}), none(element::i64, {6});
  for (std::int64_t i = 0; i < 6; ++i) all.set(i, 0.5 * 2.5), none.set_integer(i, 102), got.set_integer(i, 103);
  halves.see("real", all);
  CHECK(halves.take_over("stored", got, none, 1e-6) == 0);
  CHECK(none.integer(0) == 102);
  // ... but where float32 has none of the numbers, each is a half to its last bits
  const double thirds = 1.25 * (1 + 1e-12);
  for (std::int64_t i = 0; i < 6; ++i) all.set(i, thirds), got.set_integer(i, 103);
  halves.see("real", all);
  CHECK(halves.take_over("stored", got, none, 1e-6) == 6);
  // and past these bits they are counted again
  for (std::int64_t i = 0; i < 6; ++i) all.set(i, 1.25 - 7e-7), none.set_integer(i, 102), got.set_integer(i, 103);
  halves.see("real", all);
  CHECK(halves.take_over("stored", got, none, 1e-6) == 0);
  halves.see("real", numbers);
  for (std::int64_t i = 0; i < 6; ++i) got.set_integer(i, after[i]);
  // two steps apart is never rounding
  got.set_integer(0, 105);
  CHECK(halves.take_over("stored", got, wanted, 1e-6) == 0);
}

TEST_CASE("halves: the same where the scale is that of the numbers themselves") {
  nsk::test::graph_builder b;
  const value_id real = b.node_of("Sigmoid", {b.input("x", {4})}, "real");
  b.output(b.node_of("DynamicQuantizeLinear", {real}, "stored"));
  b.g.nodes.back().version = 11;
  resolve(b.g, {});
  stored_halves halves(b.g);
  array numbers(element::f64, {4}), wanted(element::i64, {4}), got(element::u8, {4});
  const double units[] = {2.5, 7.2, 3.5 - 4e-6, 255};  // of the scale, 0.5: the largest is 127.5, the least 0
  const std::int64_t right[] = {2, 7, 3, 255}, other[] = {3, 8, 4, 255}, after[] = {3, 7, 4, 255};
  for (std::int64_t i = 0; i < 4; ++i) {
    numbers.set(i, 0.5 * units[i]);
    wanted.set_integer(i, right[i]);
    got.set_integer(i, other[i]);
  }
  halves.see("real", numbers);
  CHECK(halves.take_over("stored", got, wanted, 1e-6) == 2);
  for (std::int64_t i = 0; i < 4; ++i) CHECK(wanted.integer(i) == after[i]);
}
