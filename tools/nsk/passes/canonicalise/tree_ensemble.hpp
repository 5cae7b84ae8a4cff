// SPDX-License-Identifier: MIT
#pragma once
/// Decision trees of ai.onnx.ml in one form, whichever operator they come from, and the engine's arrays made of them.
#include "program/program.hpp"

namespace nsk::tool::canonical {

struct ensemble_node {
  std::int32_t kind = 0;  ///< as the schema has it; 0 is a leaf
  std::int32_t feature = 0;
  std::vector<float> thresholds;  ///< more than one where the node tests for equality with any of them
  std::size_t yes = 0, no = 0;    ///< positions of the nodes where it goes on
  std::vector<std::pair<std::int32_t, float>> scores;  ///< of a leaf: target, weight
};

struct tree_ensemble {
  std::vector<ensemble_node> nodes;
  std::vector<std::size_t> roots;  ///< in the order in which trees are added up
};

/// Trees of a TreeEnsembleRegressor ("target") or TreeEnsembleClassifier ("class"), whose nodes have names.
tree_ensemble ensemble_of_names(const graph& g, const node& n, const std::string& prefix);
/// Trees of a TreeEnsemble, whose nodes and leaves have positions.
tree_ensemble ensemble_of_positions(const graph& g, const node& n);

/// Roots, nodes, thresholds, targets and weights, children behind their parents. Refuses what is no tree, thresholds
/// that are not numbers and weights that are not finite.
tree_parameters arrays_of(const tree_ensemble& e, const graph& g, const node& n);

}
