// SPDX-License-Identifier: MIT
#pragma once
/// What the values of a graph are computed from, by name.
#include <set>
#include <string>
#include <unordered_set>
#include <vector>
#include "import/onnx/wire.hpp"

namespace nsk::tool {

/// Names that a graph and its subgraphs read from the graphs around it.
void collect_free_names(const wire::graph& g, std::set<std::string>& to);

/// What some values of a graph are computed from, they themselves included.
class needed_names {
 public:
  /// Everything where there are no `outputs`, or the graph lacks one of them.
  needed_names(const wire::graph& g, const std::vector<std::string>& outputs);
  bool has(const std::string& name) const { return m_all || m_names.count(name) != 0; }
  bool has(const wire::node& n) const;

 private:
  bool m_all = true;
  std::unordered_set<std::string> m_names;
};

/// The names of a graph's outputs.
std::vector<std::string> output_names(const wire::graph& g);

}
