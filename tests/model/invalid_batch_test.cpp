// SPDX-License-Identifier: MIT
// Invalid batches and random steps, each refused for its own reason.
#include <doctest/doctest.h>
#include "policy_plan.hpp"
#include "recurrent_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;

test::tensor_spec& input(plan_spec& p, test::policy_step s, std::size_t i = 0) {
  return p.tensors[p.steps[s].inputs[i]];
}
test::tensor_spec& output(plan_spec& p, test::policy_step s) { return p.tensors[p.steps[s].outputs[0]]; }

struct invalid_case {
  const char* name;
  status_code code;
  void (*apply)(plan_spec&);
};

const invalid_case invalid_cases[] = {
    {"a batch of one", status_code::bad_batch, [](plan_spec& p) { p.batch = 1; }},
    {"an endless batch", status_code::bad_batch, [](plan_spec& p) { p.batch = 0x80000001u; }},
    {"rows without a batch", status_code::bad_batch, [](plan_spec& p) { p.batch = 0; }},
    {"more rows than the tensors have", status_code::bad_batch, [](plan_spec& p) { p.batch = 7; }},
    {"fewer rows than the tensors have", status_code::bad_batch, [](plan_spec& p) { p.batch = 3; }},
    {"a product that wraps", status_code::bad_batch,
     [](plan_spec& p) { input(p, test::dense_step).batch = 0x80000001u; }},
    {"weights with rows", status_code::bad_batch, [](plan_spec& p) { input(p, test::dense_step, 1).batch = 1; }},
    {"an input without rows", status_code::bad_batch, [](plan_spec& p) { input(p, test::dense_step).batch = 0; }},
    {"a result without rows", status_code::bad_batch, [](plan_spec& p) { output(p, test::mean_step).batch = 0; }},
    {"a sum of rows and none", status_code::bad_batch, [](plan_spec& p) { input(p, test::sum_step, 1).batch = 0; }},
    {"a softmax of rows from none", status_code::bad_batch, [](plan_spec& p) { input(p, test::soft_step).batch = 0; }},
    {"indices without rows", status_code::bad_batch, [](plan_spec& p) { input(p, test::pick_step, 1).batch = 0; }},
    {"the largest of a column", status_code::bad_batch, [](plan_spec& p) { p.steps[test::soft_step].axis = 0; }},
    {"a mean over rows", status_code::bad_batch,
     [](plan_spec& p) {
       const std::uint32_t all = p.add_output("all", {1, 1}, test::mean_step, 7);
       p.steps[test::mean_step].outputs[0] = all;
     }},
    {"random kind of the future", status_code::bad_step,
     [](plan_spec& p) { p.steps[test::noise_step].random = static_cast<test::format::RandomKind>(3); }},
    {"random integers", status_code::bad_step,
     [](plan_spec& p) { output(p, test::noise_step).type = test::format::DataType::int32; }},
    {"random numbers from something", status_code::bad_arity,
     [](plan_spec& p) { p.steps[test::noise_step].inputs = {p.steps[test::dense_step].inputs[0]}; }},
};

TEST_CASE("open: invalid batches and random numbers are refused, each for its own reason") {
  const auto open_plan = [](const plan_spec& p) {
    const test::aligned_bytes file = p.write();
    nsk::model m;
    return nsk::open({file.data(), file.size()}, m);
  };
  const nsk::status valid = open_plan(test::make_policy());
  REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
  for (const invalid_case& l : invalid_cases) {
    plan_spec p = test::make_policy();
    l.apply(p);
    const nsk::status status = open_plan(p);
    CHECK_MESSAGE(status.code() == l.code, std::string(l.name) << ": " << status.name() << " at " << status.where());
  }
}

TEST_CASE("open: a recurrence whose gates, states or lengths lack the rows of its result is refused") {
  enum input : std::size_t { gates, weights, initial_h, initial_c, peephole, lengths };
  const auto open_without = [](int differing) {
    plan_spec p = test::make_lstm_batch();
    if (differing >= 0) p.tensors[p.steps[0].inputs[static_cast<std::size_t>(differing)]].batch = 0;
    const test::aligned_bytes file = p.write();
    nsk::model m;
    return nsk::open({file.data(), file.size()}, m);
  };
  const nsk::status valid = open_without(-1);
  REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
  for (const int differing : {gates, initial_h, initial_c, lengths})
    CHECK(open_without(differing).code() == status_code::bad_batch);
}
}
