// SPDX-License-Identifier: MIT
// Lies about decision trees, each refused for its own reason.
#include <doctest/doctest.h>
#include "forest_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
namespace format = nsk::format;
using test::forest;

enum part : std::size_t { x, roots, nodes, thresholds, targets, weights, base };

nsk::status open_plan(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

struct lie {
  const char* name;
  void (*tell)(forest&);
};

/// All are bad_weights: the arrays are constants.
const lie lies[] = {
    {"a root that is no node", [](forest& f) { f.roots[1] = 4; }},
    {"a root before the first node", [](forest& f) { f.roots[0] = -1; }},
    {"a node that leads to itself", [](forest& f) { f.nodes[2] = 0; }},
    {"a node that leads back", [](forest& f) { f.nodes[3] = -1; }},
    {"a node that leads past the last", [](forest& f) { f.nodes[3] = 4; }},
    {"a feature that rows have not", [](forest& f) { f.nodes[0] = 3; }},
    {"a feature before the first", [](forest& f) { f.nodes[0] = -1; }},
    {"a test of the future", [](forest& f) { f.nodes[1] = 7; }},
    {"a kind with more bits", [](forest& f) { f.nodes[1] = 17; }},
    {"a leaf whose entries end before they begin", [](forest& f) { f.nodes[6] = 2; }},
    {"a leaf with entries past the last", [](forest& f) { f.nodes[15] = 5; }},
    {"a leaf with entries before the first", [](forest& f) { f.nodes[14] = -1; }},
    {"a target that does not exist", [](forest& f) { f.targets[3] = 2; }},
    {"a target before the first", [](forest& f) { f.targets[3] = -1; }},
    {"fewer thresholds than nodes", [](forest& f) { f.thresholds.pop_back(); }},
    {"fewer weights than entries", [](forest& f) { f.weights.pop_back(); }},
    {"fewer bases than targets", [](forest& f) { f.base.pop_back(); }},
    {"half a node", [](forest& f) { f.nodes.pop_back(); }},
};

TEST_CASE("open: every lie about decision trees is refused") {
  const nsk::status honest = open_plan(forest().plan());
  REQUIRE_MESSAGE(honest, honest.name() << " at " << honest.where());
  for (const lie& l : lies) {
    forest f;
    l.tell(f);
    const nsk::status status = open_plan(f.plan());
    CHECK_MESSAGE(status.code() == status_code::bad_weights, std::string(l.name) << ": " << status.name());
  }
  const auto bent = [](void (*tell)(plan_spec&)) {
    plan_spec p = forest().plan();
    tell(p);
    return open_plan(p).code();
  };
  CHECK(bent([](plan_spec& p) { p.steps[0].aggregate = static_cast<format::TreeAggregate>(4); }) ==
        status_code::bad_step);
  CHECK(bent([](plan_spec& p) { p.tensors[p.steps[0].inputs[x]].type = format::DataType::int32; }) ==
        status_code::bad_step);
  CHECK(bent([](plan_spec& p) {
          p.steps[0].inputs[x] = test::add_view(p, p.steps[0].inputs[x], {3, 3}, {3, 1});
        }) == status_code::bad_step);
  CHECK(bent([](plan_spec& p) { p.tensors[p.steps[0].inputs[roots]].type = format::DataType::float32; }) ==
        status_code::bad_weights);
  CHECK(bent([](plan_spec& p) { p.steps[0].inputs[base] = p.steps[0].inputs[x]; }) == status_code::bad_weights);
  CHECK(bent([](plan_spec& p) { p.steps[0].inputs.pop_back(); }) == status_code::bad_arity);
}
}
