// SPDX-License-Identifier: MIT
// Invalid scatters: one at a time, each refused with the reason that fits.
#include <doctest/doctest.h>
#include "scatter_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
namespace format = nsk::format;

test::tensor_spec& input(plan_spec& p, test::scatter_step s, std::size_t i) { return p.tensors[p.steps[s].inputs[i]]; }

struct invalid_case {
  const char* name;
  status_code code;
  void (*apply)(plan_spec&);
};

const invalid_case invalid_cases[] = {
    {"axis past the rank", status_code::bad_step, [](plan_spec& p) { p.steps[test::scatter_sums].axis = 3; }},
    {"axis along which updates are as long as the data", status_code::bad_step,
     [](plan_spec& p) { p.steps[test::scatter_sums].axis = 0; }},
    {"kind of the future", status_code::bad_step,
     [](plan_spec& p) { p.steps[test::scatter_sums].scatter = static_cast<format::ScatterKind>(5); }},
    {"indices that are floats", status_code::bad_step,
     [](plan_spec& p) { p.steps[test::scatter_sums].inputs[1] = p.steps[test::scatter_sums].inputs[2]; }},
    {"sums of what a mask chooses", status_code::bad_step,
     [](plan_spec& p) { input(p, test::scatter_sums, 1).type = format::DataType::boolean; }},
    {"a mask that may choose more updates than there are positions", status_code::bad_step,
     [](plan_spec& p) {
       p.steps[test::scatter_sums].scatter = format::ScatterKind::replace;
       input(p, test::scatter_sums, 1).type = format::DataType::boolean;
     }},
    {"fewer indices than updates", status_code::bad_step,
     [](plan_spec& p) { input(p, test::scatter_sums, 1).shape[1] = 8; }},
    {"more rows than the data has", status_code::bad_step,
     [](plan_spec& p) {
       std::vector<std::uint32_t>& in = p.steps[test::scatter_sums].inputs;
       in[1] = test::add_view(p, in[1], {3, 9, 8}, {0, 1, 0});
       in[2] = test::add_view(p, in[2], {3, 9, 8}, {72, 8, 1});
     }},
    {"updates of another type", status_code::bad_step,
     [](plan_spec& p) { input(p, test::scatter_sums, 2).type = format::DataType::int32; }},
    {"data of another shape", status_code::bad_step,
     [](plan_spec& p) { p.steps[test::scatter_sums].inputs[0] = p.steps[test::scatter_sums].inputs[2]; }},
    {"sums of booleans", status_code::bad_step,
     [](plan_spec& p) { p = test::make_scatter(format::DataType::boolean); }},
    {"sums of half floats", status_code::bad_step,
     [](plan_spec& p) { p = test::make_scatter(format::DataType::float16); }},
    {"no updates", status_code::bad_arity, [](plan_spec& p) { p.steps[test::scatter_sums].inputs.pop_back(); }},
    {"a tile that cuts the axis", status_code::bad_tile,
     [](plan_spec& p) { p.steps[test::scatter_sums].tile.pixels = 3; }},
    {"updates in the place of the result", status_code::bad_overlap,
     [](plan_spec& p) {
       test::tensor_spec& view = input(p, test::scatter_in_place, 2);
       view.buffer = p.tensors[p.steps[test::scatter_in_place].outputs[0]].buffer;
     }},
};

nsk::status open_plan(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

}

TEST_CASE("open: invalid scatters are refused, each for its own reason") {
  const nsk::status valid = open_plan(test::make_scatter());
  REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
  const nsk::status replaced = open_plan(test::make_scatter(format::DataType::boolean, format::ScatterKind::replace));
  CHECK_MESSAGE(replaced, replaced.name() << " at " << replaced.where());
  plan_spec chosen = test::make_scatter();
  input(chosen, test::scatter_in_place, 1).type = format::DataType::boolean;
  const nsk::status by_mask = open_plan(chosen);
  CHECK_MESSAGE(by_mask, by_mask.name() << " at " << by_mask.where());
  for (const invalid_case& l : invalid_cases) {
    plan_spec p = test::make_scatter();
    l.apply(p);
    const nsk::status status = open_plan(p);
    CHECK_MESSAGE(status.code() == l.code, std::string(l.name) << ": " << status.name() << " at " << status.where());
  }
}
