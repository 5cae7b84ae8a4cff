// SPDX-License-Identifier: MIT
#include "bounded/same_values.hpp"

#include "reference/operators.hpp"

namespace nsk::tool::bounded {
namespace {

constexpr std::int64_t max_compared = 4096;  // bytes of constants that are compared by their contents

std::string bytes_text(const array& a) {
  return std::string(name_of(a.type)) + to_string(a.shape) +
         std::string(reinterpret_cast<const char*>(a.data.data()), a.data.size());
}

/// An attribute as text; empty for graphs, which are not compared.
std::string text_of(const attribute& a) {
  std::string text = std::to_string(a.index()) + ":";
  if (const auto* i = std::get_if<std::int64_t>(&a)) return text + std::to_string(*i);
  if (const auto* f = std::get_if<float>(&a))
    return text + std::to_string(*f) + "#" + std::to_string(std::hash<float>()(*f));
  if (const auto* s = std::get_if<std::string>(&a)) return text + *s;
  if (const auto* t = std::get_if<array>(&a)) return text + bytes_text(*t);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a)) return text + to_string(*list);
  if (const auto* list = std::get_if<std::vector<std::string>>(&a)) {
    for (const std::string& s : *list) text += s + ",";
    return text;
  }
  return "";
}

}

void same_values::note(const node& n) {
  if (const std::string text = reference::is_random(n) ? "" : signature(n); !text.empty())
    for (std::size_t i = 0; i < n.outputs.size(); ++i)
      if (n.outputs[i] != no_value)
        m_same[n.outputs[i]] = m_computed.emplace(text + "#" + std::to_string(i), n.outputs[i]).first->second;
}

std::string same_values::same_as(value_id v) const {
  if (v == no_value) return "-";
  const value& x = m_graph.at(v);
  if (x.constant && static_cast<std::int64_t>(x.constant->data.size()) <= max_compared) return bytes_text(*x.constant);
  const auto found = m_same.find(v);
  return "v" + std::to_string(found != m_same.end() ? found->second : v);
}

std::string same_values::signature(const node& n) const {
  std::string text = n.domain + "." + n.op + "." + std::to_string(n.version);
  for (const auto& [key, a] : n.attributes) {
    const std::string written = text_of(a);
    if (written.empty()) return "";
    text += "|" + key + "=" + written;
  }
  for (const value_id v : n.inputs) text += "|" + same_as(v);
  return text;
}

std::string same_values::count_of(const node& n) const {
  if (n.op == "NonZero" || n.op == "Compress") return "not 0: " + same_as(n.inputs[n.op == "Compress" ? 1 : 0]);
  const std::string text = signature(n);
  return text.empty() ? "of " + same_as(n.outputs[0]) : text;
}

}
