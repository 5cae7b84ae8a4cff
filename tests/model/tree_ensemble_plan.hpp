// SPDX-License-Identifier: MIT
#pragma once
/// A plan of decision trees, as a starting point for invalid files.
#include "sample_plans.hpp"

namespace test {

/// Two trees on three features: a test with two leaves, and a leaf alone.
struct tree_ensemble {
  std::vector<std::int32_t> roots{0, 3}, nodes{2, 1, 1, 2, 0, 0, 0, 1, 0, 0, 1, 3, 0, 0, 3, 4}, targets{0, 1, 0, 1};
  std::vector<float> thresholds{0.5f, 0, 0, 0}, weights{1, 2, 3, 4}, base{0, 0.5f};
  std::size_t features = 3;

  plan_spec plan() const {
    using format::DataType;
    plan_spec p;
    const std::uint32_t in = p.add_input("x", {4, static_cast<std::int32_t>(features)}, 1);
    const std::uint32_t out = p.add_output("y", {4, 2}, 0, 1);
    const std::vector<std::uint32_t> inputs = {in,
                                               p.add_constant("roots", roots, DataType::int32),
                                               p.add_constant("nodes", nodes, DataType::int32),
                                               p.add_constant("thresholds", thresholds),
                                               p.add_constant("targets", targets, DataType::int32),
                                               p.add_constant("weights", weights),
                                               p.add_constant("base", base)};
    p.add_step(format::Operator::TreeEnsemble, inputs, out, "trees");
    return p;
  }
};

inline plan_spec make_tree_ensemble() { return tree_ensemble().plan(); }

}
