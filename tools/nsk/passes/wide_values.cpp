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

/// Whether the operation has weights, or otherwise sums products: its results are the network's own numbers.
bool is_layer(const operation& o) {
  return o.as<conv_parameters>() != nullptr || o.as<dense_parameters>() != nullptr ||
         o.as<mat_mul_params>() != nullptr || o.as<recurrent_parameters>() != nullptr;
}

/// The values that are computed of some inputs, up to what bounds them, or to the first layer.
class wide_values {
 public:
  enum class reach { whole_network, first_layers };

  wide_values(const program& p, const std::set<std::string>& inputs, reach how)
      : m_p(p), m_reach(how), m_wide(p.values.size(), 0) {
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
    if (m_reach == reach::first_layers && is_layer(o)) return false;
    const bool reads = std::any_of(o.inputs.begin(), o.inputs.end(), [&](int v) { return is_wide(v); }),
               own = reads && !bounds_by_itself(o), adds = is_wide(o.post.residual);
    return o.post.activation_first ? adds || (own && !bounds(o.post)) : (own || adds) && !bounds(o.post);
  }

  const program& m_p;
  const reach m_reach;
  std::vector<char> m_wide;
};

}

std::set<std::string> wide_convolutions(const program& p, const std::set<std::string>& wide_inputs,
                                        const std::set<std::string>& unknown_inputs) {
  std::set<std::string> names;
  if (wide_inputs.empty() && unknown_inputs.empty()) return names;
  const wide_values wide(p, wide_inputs, wide_values::reach::whole_network),
      unknown(p, unknown_inputs, wide_values::reach::first_layers);
  for (const operation& o : p.operations) {
    if (o.as<conv_parameters>() == nullptr) continue;
    if (wide.is_wide(o.inputs[0]) || unknown.is_wide(o.inputs[0])) names.insert(o.name);
  }
  return names;
}

}
