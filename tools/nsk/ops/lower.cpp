// SPDX-License-Identifier: MIT
#include "ops/lower.hpp"
#include <algorithm>
#include "errors.hpp"
#include "ops/every_op.hpp"

namespace nsk::tool {
namespace {

bool same(const decision& a, const decision& b) {
  const bool embed = a.embed.has_value() == b.embed.has_value() &&
                     (!a.embed || (a.embed->parent == b.embed->parent && a.embed->axis == b.embed->axis &&
                                   a.embed->start == b.embed->start && a.embed->contiguous == b.embed->contiguous &&
                                   a.embed->phase == b.embed->phase));
  return embed && a.order == b.order && same_border(a.border, b.border) && a.dense == b.dense && a.output == b.output &&
         a.never_output == b.never_output;
}

/// A value of which two rounds decided differently; no_value where there is none.
int difference(const std::map<int, decision>& a, const std::map<int, decision>& b) {
  static const decision nothing;
  const auto uncovered = [](const std::map<int, decision>& x, const std::map<int, decision>& y) {
    const auto at = std::find_if(x.begin(), x.end(), [&](const auto& e) {
      const auto found = y.find(e.first);
      return !same(e.second, found == y.end() ? nothing : found->second);
    });
    return at == x.end() ? no_value : at->first;
  };
  const int first = uncovered(a, b);
  return first == no_value ? uncovered(b, a) : first;
}

/// Lowers until a round decides what the round before decided, and leaves that in `decisions`.
plan settled(const program& p, const lower_options& options, bool orders_only, std::map<int, decision>& decisions,
             packed_weights& packed) {
  for (int round = 0;; ++round) {
    lowerer l(p, options, decisions, orders_only, packed);
    plan result = l.run(lower_operation);
    const int open = difference(l.decisions(), decisions);
    if (open == no_value) return result;
    if (round == options.max_rounds)
      refuse("the memory layout of '" + p.values[static_cast<std::size_t>(open)].name + "' did not settle in " +
             std::to_string(round) +
             " rounds: operations that read it ask for another one in each. Convert the model in two parts that are "
             "cut there, and please report this with the model");
    decisions = l.decisions();
  }
}

}

plan lower(const program& p, const lower_options& options, value_borders* borders, packed_weights* packed) {
  // orders first, until none is asked for; then places and borders, which depend on them
  std::map<int, decision> decisions;
  packed_weights own;
  if (packed == nullptr) packed = &own;
  static_cast<void>(settled(p, options, true, decisions, *packed));  // only what it decides counts
  for (const auto& [v, border] : options.min_borders) decisions[v].border = border;
  plan result = settled(p, options, false, decisions, *packed);
  if (borders == nullptr) return result;
  borders->clear();
  for (const auto& [v, d] : decisions)
    if (!same_border(d.border, {})) (*borders)[v] = d.border;
  return result;
}

}
