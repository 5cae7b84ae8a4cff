// SPDX-License-Identifier: MIT
#include <set>

#include "bounded/rules.hpp"
#include "graph/operator_kinds.hpp"

namespace nsk::tool::bounded {

const rule* find_rule(const node& n) {
  static const rule_table rules = [] {
    rule_table t;
    for (const auto add : {add_line_rules, add_move_rules, add_place_rules}) add(t);
    return t;
  }();
  static const rule elementwise = {follow_elementwise};
  const auto found = rules.find(n.domain.empty() ? n.op : n.domain + "." + n.op);
  if (found != rules.end()) return &found->second;
  const bool takes = is_of_elements(n.op) || (broadcasts(n.op) && n.op != "BitShift") || n.op == "Cast";
  return n.domain.empty() && takes ? &elementwise : nullptr;
}

bool shapes_by_values(const node& n) {
  static const std::set<std::string> names = {"Reshape", "Expand", "ConstantOfShape",  "Slice", "Pad", "TopK",
                                              "Range",   "Tile",   "NonMaxSuppression"};
  return n.domain.empty() && names.count(n.op) != 0;
}

}
