// SPDX-License-Identifier: MIT
#include "spell/spell.hpp"

#include "spell/integers.hpp"
#include "spell/old_opsets.hpp"

namespace nsk::tool {
namespace {

const spelling_table& spellings() {
  static const spelling_table all = [] {
    spelling_table t;
    for (const auto add : {add_attention_spellings, add_composed_spellings, add_fused_spellings,
                           add_normalization_spellings, add_old_spellings, add_stored_spellings, add_weight_spellings})
      add(t);
    return t;
  }();
  return all;
}

}

bool spell_out(const graph& g, const node& n, node_placer& placer) {
  const auto found = spellings().find(n.domain.empty() ? n.op : n.domain + "." + n.op);
  void (*write)(speller&) = found != spellings().end() ? found->second
                            : is_older(n)              ? renew
                            : computes_integers(g, n)  ? write_with_floats
                                                       : nullptr;
  if (write == nullptr) return false;
  speller s(g, placer, n);
  if (found != spellings().end() && !s.wants(0)) s.refuse("its output is missing. The file is damaged");
  write(s);
  s.place();
  return true;
}

std::vector<std::string> spelled_operators() {
  std::vector<std::string> names;
  for (const auto& entry : spellings()) names.push_back(entry.first);
  return names;
}

}
