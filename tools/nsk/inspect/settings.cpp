// SPDX-License-Identifier: MIT
#include "inspect/inspect.hpp"

#include <netsuke/format/kinds.hpp>
#include "errors.hpp"
#include "graph/names.hpp"
#include "inspect/required_settings.hpp"
#include "write/schema.hpp"

namespace nsk::tool {

std::string settings_name(const std::string& name) {
  const std::string suffix = "_settings";
  std::string identifier = plain_identifier(name);
  if (identifier.empty()) identifier = "model";
  if (begins_with_digit(identifier)) identifier = "model_" + identifier;
  const bool has_suffix = identifier.size() > suffix.size() &&
                          identifier.compare(identifier.size() - suffix.size(), suffix.size(), suffix) == 0;
  return has_suffix ? identifier : identifier + suffix;
}

namespace {

template <std::size_t Count>
std::string joined(const std::string& scope, const std::bitset<Count>& wanted, std::string (*name)(int)) {
  std::string text;
  for (std::size_t i = 0; i < Count; ++i)
    if (wanted[i]) text += (text.empty() ? "" : ", ") + scope + name(static_cast<int>(i));
  return text;
}
template <std::size_t Count>
std::string list_type(const char* type, const char* scope, const std::bitset<Count>& wanted, std::string (*name)(int)) {
  return std::string("nsk::") + type + "<" + joined(std::string("nsk::") + scope + "::", wanted, name) + ">";
}
template <std::size_t Count>
std::string list(const char* member, const char* type, const char* scope, const std::bitset<Count>& wanted,
                 std::string (*name)(int)) {
  return std::string("  using ") + member + " = " + list_type(type, scope, wanted, name) + ";\n";
}
std::string constant(const char* member, bool value) {
  return std::string("  static constexpr bool ") + member + (value ? " = true;\n" : " = false;\n");
}

std::string op_identifier(int i) {
#define NSK_IDENTIFIER(name, Table) #name,
  constexpr const char* names[] = {"none", NSK_OP_LIST(NSK_IDENTIFIER)};
#undef NSK_IDENTIFIER
  return names[i];
}
std::string function_identifier(int i) { return name_of(static_cast<function>(i)); }
std::string path_identifier(int i) {
#define NSK_IDENTIFIER(name) #name,
  constexpr const char* names[] = {NSK_FAST_PATH_LIST(NSK_IDENTIFIER)};
#undef NSK_IDENTIFIER
  return names[i];
}
std::string reduce_identifier(int i) { return enumerator_name("ReduceKind", i); }
std::string pool_identifier(int i) { return enumerator_name("PoolKind", i); }

/// What kernels of layers on floats are needed, where it is less than the defaults.
std::string variants_text(const required_settings& n) {
  const auto uses = [&](op o) { return n.ops[static_cast<std::size_t>(o)]; };
  const bool multiplies = uses(op::conv_2d) || uses(op::fully_connected) || uses(op::mat_mul) || uses(op::recurrent);
  std::string text;
  if (uses(op::reduce) && !n.reduce_kinds.all())
    text += list("reduce_kinds", "reduce_list", "reduce_kind", n.reduce_kinds, reduce_identifier);
  if (uses(op::pool_2d) && !n.pool_kinds.all())
    text += list("pool_kinds", "pool_list", "pool_kind", n.pool_kinds, pool_identifier);
  const bool has_paths = uses(op::depthwise_conv_2d) || uses(op::conv_2d) || uses(op::fully_connected);
  if (has_paths && !n.paths.all()) text += list("paths", "path_list", "fast_path", n.paths, path_identifier);
  if (multiplies && !n.panel_pairs) text += constant("panel_pairs", false);
  if (multiplies && !n.prefetch_weights) text += constant("prefetch_weights", false);
  return text;
}

}

std::string settings_source(const model& m, const std::string& name) {
  const required_settings n = required_settings_of(m);
  const std::string type = settings_name(name);
  std::string text = "// Printed by `nsk inspect --settings`: what '" + printable(name) + "' needs, and no more.\n";
  text += "#if !defined(NSK_HAS_" + type + ")\n#define NSK_HAS_" + type + "\n#include <netsuke/netsuke.hpp>\n\n";
  text += "struct " + type + " : nsk::default_settings {\n";
  text += list("ops", "op_list", "op", n.ops, op_identifier);
  text += list("functions", "function_list", "function", n.functions, function_identifier);
  if (!n.winograd) text += constant("winograd", false);
  text += variants_text(n);
  if (n.half_weights) text += constant("half_weights", true);
  if (n.int8_weights) text += constant("int8_weights", true);
  if (n.quads && !n.unsafe_quads) text += constant("unsafe_quads", false);
  if (n.quads && !n.weight_offsets) text += constant("weight_offsets", false);
  if (!n.lengths) text += constant("lengths", false);
  text += "};\n#endif\n";
  return text;
}

std::string kernel_aliases(const variant_view& v) {
  const required_settings n = required_settings_of(v);
  const auto flag = [](bool value) { return value ? ", true" : ", false"; };
  std::string text =
      "/// What kernels have code for: functions behind the sums of layers, fast paths, whether tiles take pairs of\n"
      "/// panels, and whether they prefetch weights.\nusing kernel_set = nsk::kernels::kernels_for<" +
      list_type("function_list", "function", n.functions, function_identifier) + ", " +
      list_type("path_list", "fast_path", n.paths, path_identifier) + flag(n.panel_pairs) + flag(n.prefetch_weights) +
      ">;\n";
  if (n.ops[static_cast<std::size_t>(op::reduce)])
    text += "using reductions = " + list_type("reduce_list", "reduce_kind", n.reduce_kinds, reduce_identifier) + ";\n";
  if (n.ops[static_cast<std::size_t>(op::pool_2d)])
    text += "using pools = " + list_type("pool_list", "pool_kind", n.pool_kinds, pool_identifier) + ";\n";
  return text;
}

}
