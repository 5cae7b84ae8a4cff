// SPDX-License-Identifier: MIT
#include "graph/cures.hpp"

#include <algorithm>
#include <set>

namespace nsk::tool {
namespace {

constexpr std::int64_t few_elements = 16, listed_elements = 4;

const value& at(const graph& g, value_id v) { return g.values[static_cast<std::size_t>(v)]; }

/// "VALUE,VALUE", as many as there are elements, or a file where that is long.
std::string form_of(std::int64_t elements) {
  if (elements > listed_elements) return "FILE.npy";
  std::string form = "VALUE";
  for (std::int64_t i = 1; i < elements; ++i) form += ",VALUE";
  return form;
}

}

std::string options_that_set(const graph& g, value_id v) {
  if (g.outputs.empty()) return "";  // --set takes effect when the graph is resolved
  std::set<value_id> needed = {v};
  for (std::size_t k = g.nodes.size(); k-- > 0;) {
    const node& n = g.nodes[k];
    const auto is_needed = [&](value_id o) { return needed.count(o) != 0; };
    if (std::any_of(n.outputs.begin(), n.outputs.end(), is_needed)) needed.insert(n.inputs.begin(), n.inputs.end());
  }
  std::string options;
  for (const value_id from : g.inputs) {
    if (needed.count(from) == 0) continue;
    const value& x = at(g, from);
    if (!x.is_static() || count_of(x.shape) > few_elements) return "";
    options += " --set " + x.name + "=" + form_of(count_of(x.shape));
  }
  return options;
}

std::string cure_that_sets(const graph& g, value_id v) {
  const std::string options = options_that_set(g, v);
  return options.empty() ? "Export the model with fixed shapes" : "It follows from small inputs alone: try" + options;
}

std::string cure_that_ends_before(const graph& g, const node& n) {
  std::string options;
  std::set<value_id> named;
  for (const value_id v : g.outputs.empty() ? std::vector<value_id>() : n.inputs)
    if (v != no_value && !at(g, v).constant && named.insert(v).second) options += " --output-value " + at(g, v).name;
  if (options.empty()) return "choose outputs that do not need it (--output-value NAME)";
  return "end the model before it (" + options.substr(1) + ") and compute the rest in the game";
}

std::string option_that_keeps(const graph& g, const node& n, std::size_t i) {
  const bool is_named = i < n.outputs.size() && n.outputs[i] != no_value;
  return "--output-value " + (is_named ? at(g, n.outputs[i]).name : "NAME");
}

}
