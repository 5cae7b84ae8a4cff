// SPDX-License-Identifier: MIT
#include "report/inspect.hpp"

#include <netsuke/ops/impl/narrow_weights.hpp>
#include <netsuke/ops/impl/stored_numbers.hpp>
#include "errors.hpp"
#include "ops/step_facts.hpp"

namespace nsk::tool {

std::string settings_name(const std::string& name) {
  const std::string suffix = "_settings";
  std::string identifier;
  for (const char c : name) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (allowed || (!identifier.empty() && identifier.back() != '_')) identifier += allowed ? c : '_';
  }
  while (!identifier.empty() && identifier.back() == '_') identifier.pop_back();
  if (identifier.empty()) identifier = "model";
  if (identifier.front() >= '0' && identifier.front() <= '9') identifier = "model_" + identifier;
  const bool has_suffix = identifier.size() > suffix.size() &&
                          identifier.compare(identifier.size() - suffix.size(), suffix.size(), suffix) == 0;
  return has_suffix ? identifier : identifier + suffix;
}

std::string settings_source(const model& m, const std::string& name) {
  bool ops[op_count] = {}, functions[function_count] = {}, winograd = false, half_weights = false, byte_weights = false;
  bool quads = false, unsafe_quads = false, weight_offsets = false;
  functions[static_cast<int>(function::identity)] = true;
  for (int v = 0; v < m.variant_count(); ++v) {
    for (int i = 0; i < m.variant(v).step_count(); ++i) {
      const step_view s = m.variant(v).step(i);
      ops[static_cast<int>(s.op())] = true;
      functions[static_cast<int>(s.epilogue().fn)] = true;
      winograd = winograd || (algorithm_of(s) != conv_algorithm::direct);
      half_weights = half_weights || impl::has_half_weights(s);
      byte_weights = byte_weights || impl::has_byte_weights(s);
      quads = quads || s.op() == op::quantized_conv_2d || s.op() == op::quantized_depthwise_conv_2d ||
              s.op() == op::integer_conv_2d;
      unsafe_quads = unsafe_quads || impl::has_unsafe_quads(s);
      weight_offsets = weight_offsets || impl::has_weight_offset(s);
    }
  }
#define NSK_IDENTIFIER(name, Table) #name,
  constexpr const char* op_names[] = {"none", NSK_OP_LIST(NSK_IDENTIFIER)};
#undef NSK_IDENTIFIER
  auto join = [](const char* scope, const bool* wanted, int count, auto&& name) {
    std::string text;
    for (int i = 0; i < count; ++i)
      if (wanted[i]) text += (text.empty() ? "" : ", ") + std::string(scope) + name(i);
    return text;
  };
  const std::string type = settings_name(name);
  std::string text = "// Printed by `nsk inspect --settings`: what '" + printable(name) + "' needs, and no more.\n";
  text += "#if !defined(NSK_HAS_" + type + ")\n#define NSK_HAS_" + type + "\n#include <netsuke/netsuke.hpp>\n\n";
  text += "struct " + type + " : nsk::default_settings {\n";
  text += "  using ops = nsk::op_list<" + join("nsk::op::", ops, op_count, [&](int i) { return op_names[i]; }) + ">;\n";
  text += "  using functions = nsk::function_list<" +
          join("nsk::function::", functions, function_count, [](int i) { return name_of(static_cast<function>(i)); }) +
          ">;\n";
  if (!winograd) text += "  static constexpr bool winograd = false;\n";
  if (half_weights) text += "  static constexpr bool half_weights = true;\n";
  if (byte_weights) text += "  static constexpr bool byte_weights = true;\n";
  if (quads && !unsafe_quads) text += "  static constexpr bool unsafe_quads = false;\n";
  if (quads && !weight_offsets) text += "  static constexpr bool weight_offsets = false;\n";
  text += "};\n#endif\n";
  return text;
}

}
