// SPDX-License-Identifier: MIT
// Invalid operators on integers, booleans and indices, and invalid normalisations: one at a time, each refused with
// the reason that fits.
#include <doctest/doctest.h>
#include "sample_plans.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
namespace format = nsk::format;

enum step : std::size_t { top, best, arg, mod, gather, less, select, to_int, to_float, norm, lrn, nms };

test::tensor_spec& input(plan_spec& p, step s, std::size_t i) { return p.tensors[p.steps[s].inputs[i]]; }
test::tensor_spec& output(plan_spec& p, step s) { return p.tensors[p.steps[s].outputs[0]]; }

struct invalid_case {
  const char* name;
  status_code code;
  void (*apply)(plan_spec&);
};

const invalid_case invalid_cases[] = {
    {"top_k longer than its input", status_code::bad_step,
     [](plan_spec& p) {
       p.steps[top].inputs[0] = test::add_view(p, p.steps[top].inputs[0], {2, 2, 8}, {48, 8, 1});
     }},
    {"top_k axis", status_code::bad_step, [](plan_spec& p) { p.steps[top].axis = 3; }},
    {"top_k of booleans", status_code::bad_step,
     [](plan_spec& p) {
       p.steps[top].inputs[0] = test::add_view(p, p.steps[top].inputs[0], {2, 6, 8}, {48, 8, 1});
       input(p, top, 0).type = format::DataType::boolean;
     }},
    {"top_k writes int32", status_code::bad_step, [](plan_spec& p) { output(p, top).type = format::DataType::int32; }},
    {"a tile cuts a line of top_k", status_code::bad_tile, [](plan_spec& p) { p.steps[top].tile.pixels = 1; }},
    {"gather_elements with float indices", status_code::bad_step,
     [](plan_spec& p) { p.steps[best].inputs[1] = p.steps[best].inputs[0]; }},
    {"gather_elements of another type", status_code::bad_step,
     [](plan_spec& p) { output(p, best).type = format::DataType::int32; }},
    {"gather_elements longer than the data", status_code::bad_step,
     [](plan_spec& p) {
       p.steps[best].axis = 2;
       p.steps[best].inputs[0] = test::add_view(p, p.steps[best].inputs[0], {2, 2, 8}, {48, 8, 1});
     }},
    {"arg_reduce axis", status_code::bad_step, [](plan_spec& p) { p.steps[arg].axis = 1; }},
    {"arg_reduce kind of the future", status_code::bad_step,
     [](plan_spec& p) { p.steps[arg].arg_reduce = static_cast<format::ArgReduceKind>(2); }},
    {"arg_reduce of booleans", status_code::bad_step,
     [](plan_spec& p) { input(p, arg, 0).type = format::DataType::boolean; }},
    {"arg_reduce writes floats", status_code::bad_step,
     [](plan_spec& p) { output(p, arg).type = format::DataType::float32; }},
    {"arithmetic kind of the future", status_code::bad_step,
     [](plan_spec& p) { p.steps[mod].arithmetic = static_cast<format::ArithmeticKind>(12); }},
    {"arithmetic on floats", status_code::bad_step,
     [](plan_spec& p) {
       output(p, mod).type = input(p, mod, 0).type = input(p, mod, 1).type = format::DataType::float32;
     }},
    {"arithmetic on two types", status_code::bad_step,
     [](plan_spec& p) { input(p, mod, 1).type = format::DataType::int32; }},
    {"remainder of booleans", status_code::bad_step,
     [](plan_spec& p) {
       output(p, mod).type = input(p, mod, 0).type = input(p, mod, 1).type = format::DataType::boolean;
     }},
    {"gather axis", status_code::bad_step, [](plan_spec& p) { p.steps[gather].axis = 1; }},
    {"gather axis past the rank", status_code::bad_step, [](plan_spec& p) { p.steps[gather].axis = 200; }},
    {"gather with float indices", status_code::bad_step,
     [](plan_spec& p) { input(p, gather, 1).type = format::DataType::float32; }},
    {"gather with too few indices", status_code::bad_step, [](plan_spec& p) { input(p, gather, 1).shape[0] = 5; }},
    {"compare of two types", status_code::bad_step,
     [](plan_spec& p) { input(p, less, 0).type = format::DataType::int32; }},
    {"compare to floats", status_code::bad_step,
     [](plan_spec& p) { p.steps[less].outputs[0] = p.steps[select].outputs[0]; }},
    {"compare of another shape", status_code::bad_step,
     [](plan_spec& p) { p.steps[less].inputs[0] = p.steps[best].outputs[0]; }},
    {"compare kind of the future", status_code::bad_step,
     [](plan_spec& p) { p.steps[less].compare = static_cast<format::CompareKind>(4); }},
    {"compare of half floats", status_code::bad_step,
     [](plan_spec& p) { input(p, less, 0).type = input(p, less, 1).type = format::DataType::float16; }},
    {"select by floats", status_code::bad_step,
     [](plan_spec& p) { p.steps[select].inputs[0] = p.steps[select].inputs[1]; }},
    {"select of two types", status_code::bad_step,
     [](plan_spec& p) { input(p, select, 2).type = format::DataType::int32; }},
    {"select without a second choice", status_code::bad_arity, [](plan_spec& p) { p.steps[select].inputs.pop_back(); }},
    {"cast to half floats", status_code::bad_step,
     [](plan_spec& p) { output(p, to_int).type = format::DataType::float16; }},
    {"cast of another shape", status_code::bad_step,
     [](plan_spec& p) { p.steps[to_int].inputs[0] = p.steps[best].outputs[0]; }},
    {"layer normalisation with a short scale", status_code::bad_weights,
     [](plan_spec& p) { input(p, norm, 1).shape[0] = 5; }},
    {"layer normalisation with a bias in the arena", status_code::bad_weights,
     [](plan_spec& p) { p.steps[norm].inputs[2] = p.steps[norm].inputs[0]; }},
    {"layer normalisation of integers", status_code::bad_step,
     [](plan_spec& p) { input(p, norm, 0).type = format::DataType::int32; }},
    {"a window of 0 neighbours", status_code::bad_step, [](plan_spec& p) { p.steps[lrn].size = 0; }},
    {"an endless window", status_code::bad_step, [](plan_spec& p) { p.steps[lrn].size = 0x80000000u; }},
    {"boxes of three numbers", status_code::bad_step, [](plan_spec& p) { input(p, nms, 0).shape[2] = 3; }},
    {"more scores than boxes", status_code::bad_step, [](plan_spec& p) { input(p, nms, 0).shape[1] = 5; }},
    {"scores of more images", status_code::bad_step, [](plan_spec& p) { input(p, nms, 1).shape[0] = 2; }},
    {"suppression writes pairs", status_code::bad_step,
     [](plan_spec& p) { p.steps[nms].outputs[0] = p.steps[arg].outputs[0]; }},
    {"suppression without scratch", status_code::bad_scratch, [](plan_spec& p) { p.steps[nms].scratch_bytes = 32; }},
    {"suppression in tiles", status_code::bad_tile, [](plan_spec& p) { p.steps[nms].tile.pixels = 2; }},
};

TEST_CASE("open: invalid indices are refused, each for its own reason") {
  const auto open_plan = [](const plan_spec& p) {
    const test::aligned_bytes file = p.write();
    nsk::model m;
    return nsk::open({file.data(), file.size()}, m);
  };
  const nsk::status valid = open_plan(test::make_indices());
  REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
  for (const invalid_case& l : invalid_cases) {
    plan_spec p = test::make_indices();
    l.apply(p);
    const nsk::status status = open_plan(p);
    CHECK_MESSAGE(status.code() == l.code, std::string(l.name) << ": " << status.name() << " at " << status.where());
  }
}
}
