// SPDX-License-Identifier: MIT
#include "spell/spell.hpp"

#include "spell/forms.hpp"

namespace nsk::tool {
namespace {

const spelling_table& spellings() {
  static const spelling_table all = [] {
    spelling_table t;
    for (const auto add : {add_attention_spellings, add_classic_spellings, add_composed_spellings,
                           add_encoder_spellings, add_fused_spellings, add_normalization_spellings, add_old_spellings,
                           add_stored_spellings, add_support_vector_spellings, add_weight_spellings})
      add(t);
    return t;
  }();
  return all;
}

/// Operators of ONNX of which some forms are spelled.
struct form {
  bool (*is_one)(const graph&, const node&);
  void (*write)(speller&);
};
constexpr form forms[] = {{is_older, renew},
                          {computes_integers, write_with_floats},
                          {is_long_einsum, write_short_einsums},
                          {is_real_inverse, write_complex_inverse}};

/// Whether nothing of the node can be given. A classifier may have lost the labels that nothing reads.
bool lacks_output(const speller& s) {
  const std::size_t last = s.op().op == "SVMClassifier" ? 1 : 0;
  return !s.wants(0) && !s.wants(last);
}

}

bool spell_out(const graph& g, const node& n, node_placer& placer) {
  const auto found = spellings().find(n.domain.empty() ? n.op : n.domain + "." + n.op);
  const bool whole = found != spellings().end();
  void (*write)(speller&) = whole ? found->second : nullptr;
  for (const form& f : forms)
    if (write == nullptr && f.is_one(g, n)) write = f.write;
  if (write == nullptr) return false;
  speller s(g, placer, n);
  if (whole && lacks_output(s)) s.refuse("its output is missing. The file is damaged");
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
