// SPDX-License-Identifier: MIT
// Invalid recurrent steps: one at a time, each refused with the reason that fits.
#include <doctest/doctest.h>
#include "recurrent_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
namespace format = nsk::format;

enum input_of : std::size_t { of_x, of_weights, of_h, of_c, of_peephole, of_lengths };

test::step_spec& step(plan_spec& p) { return p.steps[0]; }
test::recurrent_spec& layer(plan_spec& p) { return p.steps[0].recurrent; }
test::tensor_spec& input(plan_spec& p, input_of i) { return p.tensors[p.steps[0].inputs[i]]; }

/// Reads an input through another view of its memory, so that only the step is wrong.
void view(plan_spec& p, input_of i, std::vector<std::int32_t> shape, std::vector<std::int64_t> strides) {
  step(p).inputs[i] = test::add_view(p, step(p).inputs[i], std::move(shape), std::move(strides));
}

struct invalid_case {
  const char* name;
  status_code code;
  void (*apply)(plan_spec&);
};

const invalid_case invalid_cases[] = {
    {"a kind of the future", status_code::bad_step,
     [](plan_spec& p) {
       layer(p).kind = static_cast<format::RecurrentKind>(3);
       step(p).inputs.erase(step(p).inputs.begin() + of_c);
     }},
    {"a function of the future", status_code::bad_step, [](plan_spec& p) { layer(p).functions[4] = 11; }},
    {"a function too few", status_code::bad_step, [](plan_spec& p) { layer(p).functions.pop_back(); }},
    {"a function too many", status_code::bad_step, [](plan_spec& p) { layer(p).functions.push_back(0); }},
    {"no functions", status_code::bad_step, [](plan_spec& p) { layer(p).functions.clear(); }},
    {"a parameter too few", status_code::bad_step, [](plan_spec& p) { layer(p).parameters.pop_back(); }},
    {"a third direction runs backwards", status_code::bad_step, [](plan_spec& p) { layer(p).reverse = 4; }},
    {"a negative clip", status_code::bad_step, [](plan_spec& p) { layer(p).clip = -1; }},
    {"a clip that is no number", status_code::bad_step,
     [](plan_spec& p) { layer(p).clip = std::numeric_limits<float>::quiet_NaN(); }},
    {"a negative limit of the cell", status_code::bad_step, [](plan_spec& p) { layer(p).cell_clip = -1; }},
    {"a limit of the cell that is no number", status_code::bad_step,
     [](plan_spec& p) { layer(p).cell_clip = std::numeric_limits<float>::quiet_NaN(); }},
    {"linear_before_reset of an lstm", status_code::bad_step,
     [](plan_spec& p) { layer(p).linear_before_reset = true; }},
    {"an lstm without its cell", status_code::bad_arity,
     [](plan_spec& p) { step(p).inputs.erase(step(p).inputs.begin() + of_c); }},
    {"a peephole that is not there", status_code::bad_arity,
     [](plan_spec& p) { step(p).inputs.erase(step(p).inputs.begin() + of_peephole); }},
    {"a peephole that is not announced", status_code::bad_arity, [](plan_spec& p) { layer(p).peephole = false; }},
    {"too few gates", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_x, {3, 4, 2, 15}, {160, 40, 20, 1});
     }},
    {"too few time steps", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_x, {3, 3, 2, 20}, {160, 40, 20, 1});
     }},
    {"too few rows", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_x, {2, 4, 2, 20}, {160, 40, 20, 1});
     }},
    {"too few directions", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_x, {3, 4, 1, 20}, {160, 40, 20, 1});
     }},
    {"gates that are not side by side", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_x, {3, 4, 2, 20}, {160, 40, 1, 2});
     }},
    {"a short state", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_h, {3, 2, 4}, {10, 5, 1});
     }},
    {"a state of one direction", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_h, {3, 1, 5}, {10, 5, 1});
     }},
    {"a cell of fewer rows", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_c, {2, 2, 5}, {10, 5, 1});
     }},
    {"a cell without rank", status_code::bad_step, [](plan_spec& p) { view(p, of_c, {30}, {1}); }},
    {"weights of one direction", status_code::bad_weights, [](plan_spec& p) { input(p, of_weights).shape[0] -= 1; }},
    {"weights that are not packed", status_code::bad_weights,
     [](plan_spec& p) { input(p, of_weights).packing = format::Packing::plain; }},
    {"a short peephole", status_code::bad_step, [](plan_spec& p) { input(p, of_peephole).shape[0] = 29; }},
    {"a peephole that is computed", status_code::bad_step,
     [](plan_spec& p) {
       view(p, of_h, {3, 2, 5}, {10, 5, 1});
       step(p).inputs[of_peephole] = test::add_view(p, step(p).inputs[of_h], {30}, {1});
     }},
    {"float lengths", status_code::bad_step,
     [](plan_spec& p) { input(p, of_lengths).type = format::DataType::float32; }},
    {"too few lengths", status_code::bad_step, [](plan_spec& p) { input(p, of_lengths).shape[0] = 2; }},
    {"a tile cuts time steps apart", status_code::bad_tile, [](plan_spec& p) { step(p).tile.rows = 3; }},
    {"a tile cuts hidden elements apart", status_code::bad_tile,
     [](plan_spec& p) {
       const plan_spec valid = test::make_lstm();
       step(p).tile.channels = 8;
     }},
    {"no scratch", status_code::bad_scratch, [](plan_spec& p) { step(p).scratch_bytes -= 64; }},
};

nsk::status open_plan(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

TEST_CASE("open: invalid recurrent steps are refused, each for its own reason") {
  const nsk::status valid = open_plan(test::make_lstm());
  REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
  for (const invalid_case& l : invalid_cases) {
    plan_spec p = test::make_lstm();
    l.apply(p);
    const nsk::status status = open_plan(p);
    CHECK_MESSAGE(status.code() == l.code, std::string(l.name) << ": " << status.name() << " at " << status.where());
  }
}
}
