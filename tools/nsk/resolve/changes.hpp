// SPDX-License-Identifier: MIT
#pragma once
/// Changes of a model that the command line asks for: they make another model, with which a conversion is compared.
#include <map>
#include <string>

#include "graph/graph.hpp"

namespace nsk::tool {

enum class swish_change { none, to_hard, to_soft };

struct model_changes {
  swish_change swish = swish_change::none;
  std::map<std::string, std::string> argmaxes;  ///< output -> its axis as a number; empty: the axis of channels
  std::map<std::string, std::string> names;     ///< old -> new, of values, ports and nodes
  bool any() const { return swish != swish_change::none || !argmaxes.empty() || !names.empty(); }
};

/// Changes a resolved graph, in the order of the members. Notes in its facts what was done. Misuse of names that do not
/// exist or are taken, and of axes that an output does not have; refuses a change of swish where there is none.
void apply_changes(graph& g, const model_changes& changes);

/// The new name of something in a changed model.
std::string new_name(const model_changes& changes, const std::string& old);
/// The name in the source of something in a changed model.
std::string old_name(const model_changes& changes, const std::string& changed);

}
