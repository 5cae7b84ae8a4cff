// SPDX-License-Identifier: MIT
// Invalid samples of images: one at a time, each refused.
#include <string>
#include <doctest/doctest.h>
#include "sample_plans.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
namespace format = nsk::format;
using shape = std::vector<std::int32_t>;

nsk::status open_plan(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

/// Samples of an image at rows and columns that are inputs, and all with the factor 1.
plan_spec samples(const shape& image = {2, 5, 6, 3, 4}, const shape& places = {2, 7, 9, 3},
                  const shape& y = {2, 7, 9, 3, 4}) {
  plan_spec p;
  const std::size_t end = 1;
  const std::uint32_t x = p.add_input("x", image, end), rows = p.add_input("rows", places, end),
                      columns = p.add_input("columns", places, end),
                      one = p.add_constant("one", std::vector<float>{1}, format::DataType::float32),
                      out = p.add_output("y", y, 0, end);
  const std::uint32_t factors = test::add_view(p, one, places, std::vector<std::int64_t>(places.size(), 0));
  p.add_step(format::Operator::SampleImage, {x, rows, columns, factors}, out, "samples").tile = {5, 2, 0};
  return p;
}

struct invalid_case {
  const char* name;
  plan_spec plan;
};

}  // namespace

TEST_CASE("open: samples of images") {
  const nsk::status valid = open_plan(samples());
  CHECK_MESSAGE(valid, valid.name() << " at " << valid.where());
}

TEST_CASE("open: invalid samples of images are refused") {
  plan_spec words = samples(), planes = samples(), fewer = samples();
  words.tensors[words.steps[0].inputs[1]].type = format::DataType::int32;
  planes.steps[0].inputs[0] = test::add_view(planes, planes.steps[0].inputs[0], {2, 5, 6, 3, 4}, {360, 6, 1, 120, 30});
  fewer.steps[0].inputs.pop_back();
  const invalid_case cases[] = {
      {"image of other groups", samples({2, 5, 6, 2, 4})},
      {"image of other channels", samples({2, 5, 6, 3, 5})},
      {"more images than results", samples({3, 5, 6, 3, 4})},
      {"image of four dimensions", samples({2, 5, 6, 12})},
      {"fewer places than results", samples({2, 5, 6, 3, 4}, {2, 7, 8, 3})},
      {"places of another image", samples({2, 5, 6, 3, 4}, {1, 7, 9, 3})},
      {"places of three dimensions", samples({2, 5, 6, 3, 4}, {2, 63, 3})},
      {"result of six dimensions", samples({2, 5, 6, 3, 4}, {2, 7, 9, 3}, {1, 2, 7, 9, 3, 4})},
      {"more rows than floats count", samples({1, (1 << 22) + 1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1, 1})},
      {"positions that are integers", words},
      {"channels that are not neighbours", planes},
  };
  for (const invalid_case& c : cases) {
    const nsk::status status = open_plan(c.plan);
    CHECK_MESSAGE(status.code() == status_code::bad_step, std::string(c.name)
                                                              << ": " << status.name() << " at " << status.where());
  }
  CHECK(open_plan(fewer).code() == status_code::bad_arity);
}
