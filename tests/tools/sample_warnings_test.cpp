// SPDX-License-Identifier: MIT
// Which samples are suspicious.
#include <doctest/doctest.h>

#include "quantize/calibrate/samples.hpp"

using namespace nsk::tool;

namespace {

/// Samples of one input whose numbers are `low` and `high` in turns, the k-th less by k times `shift`.
sample_set samples_of(int count, double low, double high, double shift = 0) {
  sample_set set;
  for (int k = 0; k < count; ++k) {
    array a(element::f32, {1, 8});
    for (std::int64_t i = 0; i < 8; ++i) a.set(i, (i % 2 == 0 ? low : high) - k * shift);
    set.samples.push_back({{"x", a}});
  }
  return set;
}

std::string said(const sample_set& set, const image_choices& how = {}, const input_ranges& ranges = {}) {
  std::string text;
  for (const std::string& warning : warnings_of(set, how, ranges)) text += warning + "\n";
  return text;
}

bool holds(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

}

TEST_CASE("samples: one, equal ones, and numbers that hardly vary are suspicious") {
  CHECK(said(samples_of(2, -1, 1, 0.01)).empty());
  CHECK(holds(said(samples_of(1, -1, 1)), "one sample"));
  CHECK(holds(said(samples_of(3, -1, 1)), "3 samples are all the same"));
  CHECK(holds(said(samples_of(2, -1, -0.992, 1e-4)), "hardly any range. Give"));
  CHECK(said(samples_of(2, 0, 0.008, 1e-4)).empty());  // from 0 it is a range
  image_choices levels;
  levels.mean = levels.deviation = {127.5f};
  CHECK(holds(said(samples_of(2, -1, -0.992, 1e-4), levels), "add --white 255"));
  levels.white = 255.0f;
  CHECK_FALSE(holds(said(samples_of(2, -1, -0.992, 1e-4), levels), "--white"));
}

TEST_CASE("samples: numbers outside of what the game says are suspicious") {
  const input_ranges ranges = {{"x", {0, 1, false}}};
  CHECK(said(samples_of(2, 0.1, 1, 0.01), {}, ranges).empty());
  CHECK(holds(said(samples_of(2, 0, 255, 0.01), {}, ranges), "--input-range or --hdr says 0 to 1"));
}
