// SPDX-License-Identifier: MIT
#include "graph/cures.hpp"

#include <algorithm>
#include <set>

namespace nsk::tool {
namespace {

constexpr std::int64_t few_elements = 16, listed_elements = 4;

/// "VALUE,VALUE", as many as there are elements, or a file where that is long.
std::string form_of(std::int64_t elements) {
  if (elements > listed_elements) return "FILE.npy";
  std::string form = "VALUE";
  for (std::int64_t i = 1; i < elements; ++i) form += ",VALUE";
  return form;
}

/// The node that makes a value; null where none does.
const node* maker_of(const graph& g, value_id v) {
  for (const node& n : g.nodes)
    if (std::find(n.outputs.begin(), n.outputs.end(), v) != n.outputs.end()) return &n;
  return nullptr;
}

/// The value that a chain of operators, which change no number, begins with.
value_id origin_of(const graph& g, value_id v) {
  static const std::set<std::string> moves = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  constexpr int longest = 16;
  for (int i = 0; i < longest && v != no_value; ++i) {
    const node* n = maker_of(g, v);
    if (n == nullptr || moves.count(n->op) == 0 || n->inputs.empty()) return v;
    v = n->inputs[0];
  }
  return v;
}

/// The only number of a constant of integers; nothing where there are several, or it is none.
std::optional<std::int64_t> only_integer(const graph& g, value_id v) {
  const value_id origin = origin_of(g, v);
  if (origin == no_value) return std::nullopt;
  const array* found = g.at(origin).constant.get();
  if (const node* n = maker_of(g, origin); found == nullptr && n != nullptr && n->op == "Constant") {
    if (n->has("value_int")) return n->integer("value_int", 0);
    found = n->find<array>("value");
  }
  if (found == nullptr || found->count() != 1 || !is_integer(found->type)) return std::nullopt;
  return found->integer(0);
}

}

std::optional<deciding_number> number_that_decides(const graph& g, value_id condition) {
  const node* n = maker_of(g, origin_of(g, condition));
  if (n == nullptr || n->op != "Equal" || n->inputs.size() != 2) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const value_id from = n->inputs[i] == no_value ? no_value : origin_of(g, n->inputs[i]);
    const auto number = n->inputs[1 - i] == no_value ? std::nullopt : only_integer(g, n->inputs[1 - i]);
    if (!number || std::find(g.inputs.begin(), g.inputs.end(), from) == g.inputs.end()) continue;
    const value& x = g.at(from);
    if (x.is_static() && count_of(x.shape) == 1) return deciding_number{x.name, std::to_string(*number)};
  }
  return std::nullopt;
}

std::string options_that_set(const graph& g, value_id v) { return options_that_set(g, std::vector<value_id>{v}); }

std::string options_that_set(const graph& g, const std::vector<value_id>& values) {
  if (g.outputs.empty()) return "";  // --set takes effect when the graph is resolved
  std::set<value_id> needed(values.begin(), values.end());
  for (std::size_t k = g.nodes.size(); k-- > 0;) {
    const node& n = g.nodes[k];
    const auto is_needed = [&](value_id o) { return needed.count(o) != 0; };
    if (std::any_of(n.outputs.begin(), n.outputs.end(), is_needed)) needed.insert(n.inputs.begin(), n.inputs.end());
  }
  std::string options;
  for (const value_id from : g.inputs) {
    if (needed.count(from) == 0) continue;
    const value& x = g.at(from);
    if (!x.is_static() || count_of(x.shape) > few_elements) return "";
    options += " --set " + x.name + "=" + form_of(count_of(x.shape));
  }
  return options;
}

std::string cure_that_sets(const graph& g, value_id v) {
  const std::string options = options_that_set(g, v);
  return options.empty() ? "Export the model with fixed shapes" : "It follows from small inputs alone: try" + options;
}

std::string cure_that_decides(const graph& g, value_id condition) {
  const auto choice = number_that_decides(g, condition);
  if (!choice) return cure_that_sets(g, condition);
  return "It follows from small inputs alone: try --set " + choice->input + "=" + choice->number;
}

std::string cure_that_ends_before(const graph& g, const node& n) {
  std::string options;
  std::set<value_id> named;
  for (const value_id v : g.outputs.empty() ? std::vector<value_id>() : n.inputs)
    if (v != no_value && !g.at(v).constant && named.insert(v).second) options += " --output-value " + g.at(v).name;
  if (options.empty()) return "choose outputs that do not need it (--output-value NAME)";
  return "end the model before it (" + options.substr(1) + ") and compute the rest in the game";
}

std::string option_that_keeps(const graph& g, const node& n, std::size_t i) {
  return "--output-value " + (n.gives(i) ? g.at(n.outputs[i]).name : "NAME");
}

}
