// SPDX-License-Identifier: MIT
#include "spell/spell.hpp"

#include "spell/old_opsets.hpp"

namespace nsk::tool {
namespace {

const spelling_table& spellings() {
  static const spelling_table all = [] {
    spelling_table t;
    for (const auto add : {add_fused_spellings, add_normalization_spellings, add_old_spellings, add_stored_spellings})
      add(t);
    return t;
  }();
  return all;
}

}

bool spell_out(const graph& g, const node& n, node_placer& placer) {
  const auto found = spellings().find(n.domain.empty() ? n.op : n.domain + "." + n.op);
  const bool spelled = found != spellings().end();
  if (!spelled && !is_older(n)) return false;
  speller s(g, placer, n);
  if (spelled && !s.wants(0)) s.refuse("its output is missing. The file is damaged");
  (spelled ? found->second : renew)(s);
  s.place();
  return true;
}

std::vector<std::string> spelled_operators() {
  std::vector<std::string> names;
  for (const auto& entry : spellings()) names.push_back(entry.first);
  return names;
}

}
