// SPDX-License-Identifier: MIT
#pragma once
/// How the canonicalisation knows operators: a table from name to the rule that rewrites a node. A rule reads the node
/// from the context and adds operations that make its outputs. Each family of operators has a file, rules_*.cpp, whose
/// table stands at its end.
#include <initializer_list>
#include <map>
#include <string>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// Element types of inputs that are data; constants may have any.
enum class element_types { float32, any };

struct rule {
  void (*rewrite)(context&);
  element_types takes = element_types::float32;
  /// Rewrites a node of int32 or int64, where `rewrite` takes float32 and the engine computes integers too.
  void (*rewrite_integers)(context&) = nullptr;
};

/// "Conv" for the default domain, "ai.onnx.ml.Scaler" for others.
using rule_table = std::map<std::string, rule>;
const rule_table& rules();
/// The rule of a node's operator; null where there is none.
const rule* find_rule(const node& n);

/// Enters operators that one rule rewrites.
inline void add_rows(rule_table& t, std::initializer_list<const char*> operators, const rule& r) {
  for (const char* name : operators) t[name] = r;
}

// One function per file of rules.
void add_comparison(rule_table& t);
void add_composed(rule_table& t);
void add_conv_transpose(rule_table& t);
void add_convolution(rule_table& t);
void add_einsum(rule_table& t);
void add_elementwise(rule_table& t);
void add_fixed_point(rule_table& t);
void add_linear(rule_table& t);
void add_matrix(rule_table& t);
void add_normalization(rule_table& t);
void add_places(rule_table& t);
void add_quantized(rule_table& t);
void add_int8_layers(rule_table& t);
void add_random(rule_table& t);
void add_recurrent(rule_table& t);
void add_reduction(rule_table& t);
void add_regions(rule_table& t);
void add_resize(rule_table& t);
void add_sample(rule_table& t);
void add_scatter(rule_table& t);
void add_selection(rule_table& t);
void add_shape(rule_table& t);
void add_signal(rule_table& t);
void add_trees(rule_table& t);
void add_unique(rule_table& t);

}
