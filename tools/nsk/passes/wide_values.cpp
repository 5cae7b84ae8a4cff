// SPDX-License-Identifier: MIT
#include "passes/wide_values.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/input_range.hpp"

namespace nsk::tool {
namespace {

/// Whether the function's results stay within max_narrow.
bool bounds(const post_operation& post) {
  switch (post.fn) {
    case function::sigmoid:
    case function::hard_sigmoid:
    case function::tanh:
    case function::erf:
    case function::sign:
    case function::sin:
    case function::cos:
    case function::asin:
    case function::acos:
    case function::atan: return true;
    case function::clip: return std::max(std::abs(post.alpha), std::abs(post.beta)) <= max_narrow;
    default: return false;
  }
}

/// Whether an operation's own results, before what follows it, are bounded.
bool bounds_by_itself(const operation& o) {
  const auto* softmax = o.as<softmax_params>();
  return (softmax != nullptr && !softmax->log) || o.as<layer_normalization_parameters>() != nullptr;
}

class wide_values {
 public:
  wide_values(const program& p, const std::set<std::string>& inputs) : m_p(p), m_wide(p.values.size(), 0) {
    for (std::size_t v = 0; v < p.values.size(); ++v)
      if (inputs.count(p.values[v].name) != 0 && !p.is_constant(static_cast<int>(v))) m_wide[v] = 1;
    while (spread()) {
    }
  }
  bool is_wide(int v) const { return v != no_value && m_wide[static_cast<std::size_t>(v)] != 0; }

 private:
  /// Follows one run of the network; returns whether the next one begins with other states.
  bool spread() {
    for (const operation& o : m_p.operations)
      if (makes_wide(o)) m_wide[static_cast<std::size_t>(o.output)] = 1;
    bool changes = false;
    for (const program_state& s : m_p.states) {
      if (!is_wide(s.output) || is_wide(s.input)) continue;
      m_wide[static_cast<std::size_t>(s.input)] = 1;
      changes = true;
    }
    return changes;
  }
  bool makes_wide(const operation& o) const {
    if (m_p.values[static_cast<std::size_t>(o.output)].type != element::f32) return false;
    const bool reads = std::any_of(o.inputs.begin(), o.inputs.end(), [&](int v) { return is_wide(v); }),
               own = reads && !bounds_by_itself(o), adds = is_wide(o.post.residual);
    return o.post.activation_first ? adds || (own && !bounds(o.post)) : (own || adds) && !bounds(o.post);
  }

  const program& m_p;
  std::vector<char> m_wide;
};

}

std::set<std::string> wide_convolutions(const program& p, const std::set<std::string>& wide_inputs) {
  std::set<std::string> names;
  if (wide_inputs.empty()) return names;
  const wide_values values(p, wide_inputs);
  for (const operation& o : p.operations)
    if (o.as<conv_parameters>() != nullptr && values.is_wide(o.inputs[0])) names.insert(o.name);
  return names;
}

}
