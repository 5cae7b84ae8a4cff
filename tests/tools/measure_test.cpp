// SPDX-License-Identifier: MIT
// How far a tensor counts as being from the reference's: real numbers by their share, integers equal or wrong.
#include <doctest/doctest.h>

#include "check/compare.hpp"

using namespace nsk::tool;

namespace {

array counted_up(element type, std::int64_t count, std::int64_t first) {
  array a(type, {count});
  for (std::int64_t i = 0; i < count; ++i) is_float(type) ? a.set(i, double(first + i)) : a.set_integer(i, first + i);
  return a;
}

}

TEST_CASE("measure: one wrong integer is no rounding, however large the numbers are") {
  array got = counted_up(element::i32, 1000, 1 << 20);
  const array wanted = counted_up(element::i64, 1000, 1 << 20);
  comparison c = measure(got, wanted);
  CHECK(c.integers == 1000);
  CHECK(c.unequal == 0);
  CHECK(c.relative == 0);

  got.set_integer(700, got.integer(700) + 1);
  c = measure(got, wanted, 0, 10);  // integers are compared whole, whatever is sampled
  CHECK(c.unequal == 1);
  CHECK(c.relative == wrong_integer);
  comparison_report report;
  report.outputs.push_back(c);
  CHECK_FALSE(report.within(1e-4));

  // the same numbers as floats are within what float32 rounds
  const array floats = counted_up(element::f32, 1000, (1 << 20) + 1);
  c = measure(floats, wanted);
  CHECK(c.integers == 0);
  CHECK(c.relative < 1e-5);
}

TEST_CASE("measure: what is below float32's normal numbers is no difference, what is above them is one") {
  array got(element::f32, {2}), wanted(element::f64, {2});
  wanted.set(0, 1e-87);
  wanted.set(1, 1e-38);  // an exp that is exactly 0 here
  CHECK(measure(got, wanted).relative == 0);
  wanted.set(1, 1e-36);
  CHECK(measure(got, wanted).relative == 1);
  got.set(1, 1e-36);
  CHECK(measure(got, wanted).relative < 1e-6);
  got.set(0, 1e-36);
  CHECK(measure(got, wanted).relative == doctest::Approx(1));
}

TEST_CASE("measure: windows decide where the game spoke of a few large elements") {
  comparison c;
  c.reach = 0.5;
  comparison_report report;
  report.steps.push_back(c);
  CHECK(report.within(1e-4));
  report.judges_reach = true;
  CHECK_FALSE(report.within(1e-4));
  report.steps[0].reach = 1e-3;
  CHECK(report.within(1e-4));
}

TEST_CASE("measure: rounding explains an index that jumps, and no byte") {
  comparison c;
  c.relative = wrong_integer;
  c.local = 1;
  c.rounding = 1;
  c.unequal = 1;
  comparison_report report;
  report.outputs.push_back(c);
  CHECK(report.within(1e-4));
  report.outputs[0].bytes = true;
  CHECK_FALSE(report.within(1e-4));
}
