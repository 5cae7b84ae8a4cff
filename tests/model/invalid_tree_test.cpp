// SPDX-License-Identifier: MIT
// Invalid decision trees, each refused for its own reason.
#include <doctest/doctest.h>
#include "tree_ensemble_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
namespace format = nsk::format;
using test::tree_ensemble;

enum part : std::size_t { x, roots, nodes, thresholds, targets, weights, base };

nsk::status open_plan(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

struct invalid_case {
  const char* name;
  void (*apply)(tree_ensemble&);
};

/// All are bad_weights: the arrays are constants.
const invalid_case invalid_cases[] = {
    {"a root that is no node", [](tree_ensemble& f) { f.roots[1] = 4; }},
    {"a root before the first node", [](tree_ensemble& f) { f.roots[0] = -1; }},
    {"a node that leads to itself", [](tree_ensemble& f) { f.nodes[2] = 0; }},
    {"a node that leads back", [](tree_ensemble& f) { f.nodes[3] = -1; }},
    {"a node that leads past the last", [](tree_ensemble& f) { f.nodes[3] = 4; }},
    {"a feature that rows have not", [](tree_ensemble& f) { f.nodes[0] = 3; }},
    {"a feature before the first", [](tree_ensemble& f) { f.nodes[0] = -1; }},
    {"a test of the future", [](tree_ensemble& f) { f.nodes[1] = 7; }},
    {"a kind with more bits", [](tree_ensemble& f) { f.nodes[1] = 17; }},
    {"a leaf whose entries end before they begin", [](tree_ensemble& f) { f.nodes[6] = 2; }},
    {"a leaf with entries past the last", [](tree_ensemble& f) { f.nodes[15] = 5; }},
    {"a leaf with entries before the first", [](tree_ensemble& f) { f.nodes[14] = -1; }},
    {"a target that does not exist", [](tree_ensemble& f) { f.targets[3] = 2; }},
    {"a target before the first", [](tree_ensemble& f) { f.targets[3] = -1; }},
    {"fewer thresholds than nodes", [](tree_ensemble& f) { f.thresholds.pop_back(); }},
    {"fewer weights than entries", [](tree_ensemble& f) { f.weights.pop_back(); }},
    {"fewer bases than targets", [](tree_ensemble& f) { f.base.pop_back(); }},
    {"half a node", [](tree_ensemble& f) { f.nodes.pop_back(); }},
};

TEST_CASE("open: invalid decision trees are refused") {
  const nsk::status valid = open_plan(tree_ensemble().plan());
  REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
  for (const invalid_case& l : invalid_cases) {
    tree_ensemble f;
    l.apply(f);
    const nsk::status status = open_plan(f.plan());
    CHECK_MESSAGE(status.code() == status_code::bad_weights, std::string(l.name) << ": " << status.name());
  }
  const auto invalid = [](void (*apply)(plan_spec&)) {
    plan_spec p = tree_ensemble().plan();
    apply(p);
    return open_plan(p).code();
  };
  CHECK(invalid([](plan_spec& p) { p.steps[0].aggregate = static_cast<format::TreeAggregate>(4); }) ==
        status_code::bad_step);
  CHECK(invalid([](plan_spec& p) { p.tensors[p.steps[0].inputs[x]].type = format::DataType::int32; }) ==
        status_code::bad_step);
  CHECK(invalid([](plan_spec& p) {
          p.steps[0].inputs[x] = test::add_view(p, p.steps[0].inputs[x], {3, 3}, {3, 1});
        }) == status_code::bad_step);
  CHECK(invalid([](plan_spec& p) { p.tensors[p.steps[0].inputs[roots]].type = format::DataType::float32; }) ==
        status_code::bad_weights);
  CHECK(invalid([](plan_spec& p) { p.steps[0].inputs[base] = p.steps[0].inputs[x]; }) == status_code::bad_weights);
  CHECK(invalid([](plan_spec& p) { p.steps[0].inputs.pop_back(); }) == status_code::bad_arity);
}
}
