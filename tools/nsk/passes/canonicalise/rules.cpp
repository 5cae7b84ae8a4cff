// SPDX-License-Identifier: MIT
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {

const rule_table& rules() {
  static const rule_table all = [] {
    rule_table t;
    for (const auto add : {add_comparison,  add_composed,    add_conv_transpose, add_convolution, add_einsum,
                           add_elementwise, add_fixed_point, add_linear,         add_matrix,      add_normalization,
                           add_places,      add_quantized,   add_int8_layers,    add_random,      add_recurrent,
                           add_reduction,   add_regions,     add_resize,         add_sample,      add_scatter,
                           add_selection,   add_shape,       add_signal,         add_trees,       add_unique})
      add(t);
    return t;
  }();
  return all;
}

const rule* find_rule(const node& n) {
  const bool standard = n.domain.empty() || n.domain == "ai.onnx";
  const auto found = rules().find(standard ? n.op : n.domain + "." + n.op);
  return found == rules().end() ? nullptr : &found->second;
}

}
