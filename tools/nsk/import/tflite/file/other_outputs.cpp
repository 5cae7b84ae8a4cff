// SPDX-License-Identifier: MIT
#include "import/tflite/file/other_outputs.hpp"

#include <algorithm>
#include <set>

namespace nsk::tool::tflite {
namespace {

/// Whether an operator of graph `number` does more than make its outputs: it writes a variable, itself or in a graph
/// that it runs. `active` are the graphs that are being looked at.
bool has_effects(const tflite_file& file, int number, const tflite_operator& o, std::set<int>& active) {
  const tflite_subgraph& g = file.subgraphs.at(number);
  const auto is_variable = [&](int t) { return t >= 0 && g.tensors[static_cast<std::size_t>(t)].data->is_variable(); };
  if (o.outputs.empty() || std::any_of(o.inputs.begin(), o.inputs.end(), is_variable)) return true;
  for (const std::int64_t inside : subgraphs_of(o)) {
    const int next = static_cast<int>(inside);
    if (!active.insert(next).second) continue;  // it runs itself, which is refused later
    for (const tflite_operator& inner : file.subgraphs.at(next).operators)
      if (has_effects(file, next, inner, active)) return true;
  }
  return false;
}

/// Whether a name is that of a state behind a run (variables.hpp), which is kept in any case.
bool is_next_of_state(const std::string& name) {
  const std::string end = ":next";
  return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

/// The operators that outputs and variables need, in their order.
std::vector<tflite_operator> needed_operators(const tflite_file& file, const std::vector<int>& outputs) {
  std::set<int> needed(outputs.begin(), outputs.end());
  std::vector<tflite_operator> kept;
  const std::vector<tflite_operator>& all = file.main().operators;
  for (std::size_t i = all.size(); i-- > 0;) {
    std::set<int> active = {file.first};
    const auto is_needed = [&](int t) { return needed.count(t) != 0; };
    const bool keeps = std::any_of(all[i].outputs.begin(), all[i].outputs.end(), is_needed);
    if (!keeps && !has_effects(file, file.first, all[i], active)) continue;
    needed.insert(all[i].inputs.begin(), all[i].inputs.end());
    kept.push_back(all[i]);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}

tflite_file with_outputs(const tflite_file& file, const std::vector<std::string>& names) {
  tflite_file result = file;
  if (names.empty()) return result;
  tflite_subgraph& g = result.subgraphs.at(result.first);
  std::vector<int> found;
  bool has_all = true;
  for (const std::string& name : names) {
    const auto at = std::find_if(g.tensors.begin(), g.tensors.end(), [&](const auto& t) { return t.name == name; });
    if (at != g.tensors.end()) found.push_back(static_cast<int>(at - g.tensors.begin()));
    has_all = has_all && (at != g.tensors.end() || is_next_of_state(name));
  }
  if (has_all) {
    g.operators = needed_operators(file, found);
    g.outputs = found;
    return result;
  }
  for (const int t : found)
    if (std::find(g.outputs.begin(), g.outputs.end(), t) == g.outputs.end()) g.outputs.push_back(t);
  return result;
}

}
