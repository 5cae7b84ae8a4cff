// SPDX-License-Identifier: MIT
#include "chunks/same_graph.hpp"

#include <type_traits>

#include "errors.hpp"

namespace nsk::tool::chunks {
namespace {

bool is_same(const array& a, const array& b) { return a.type == b.type && a.shape == b.shape && a.data == b.data; }

bool is_same(const attribute& a, const attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using type = std::decay_t<decltype(x)>;
        const type& y = std::get<type>(b);
        if constexpr (std::is_same_v<type, array>)
          return is_same(x, y);
        else
          return x == y;
      },
      a);
}

bool is_same(const value& a, const value& b) {
  if (a.name != b.name || (a.constant == nullptr) != (b.constant == nullptr)) return false;
  return a.constant == b.constant || is_same(*a.constant, *b.constant);
}

bool is_same(const graph& a, const node& m, const graph& b, const node& n) {
  if (m.op != n.op || m.name != n.name || m.inputs != n.inputs || m.outputs != n.outputs ||
      m.attributes.size() != n.attributes.size())
    return false;
  for (const auto& [key, found] : m.attributes)
    if (!n.has(key) || !is_same(found, n.attributes.at(key))) return false;
  for (const value_id v : m.inputs)
    if (v != no_value && !is_same(a.at(v), b.at(v))) return false;
  return true;
}

}

void require_same(const graph& a, const graph& b, std::int64_t a_samples, std::int64_t b_samples) {
  const std::string lengths = std::to_string(a_samples) + " and of " + std::to_string(b_samples) + " samples";
  if (a.nodes.size() != b.nodes.size()) refuse("the model has other nodes for signals of " + lengths);
  for (std::size_t i = 0; i < a.nodes.size(); ++i)
    if (!is_same(a, a.nodes[i], b, b.nodes[i]))
      refuse("node '" + a.nodes[i].name + "' (" + a.nodes[i].op + "): it has other numbers for signals of " + lengths +
             ", and a chunk does not know how long the signal is. Remove what the model computes from its length");
}

}
