// SPDX-License-Identifier: MIT
#include "passes/canonicalise/canonicalise.hpp"
#include <algorithm>
#include <limits>
#include "errors.hpp"
#include "graph/cures.hpp"
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool {
namespace {

using canonical::context;

/// Refuses values with more elements than a tensor of the engine has, and those without any.
void require_elements(const graph& g, value_id v, const std::string& what) {
  if (v == no_value) return;
  const value& x = g.values[static_cast<std::size_t>(v)];
  const std::int64_t count = count_of(x.shape);
  if (count > std::numeric_limits<std::int32_t>::max())
    refuse(what + ": '" + x.name + "' has the shape " + to_string(x.shape) +
           ", but a tensor of the engine has at most 2^31 - 1 elements. Export the model for smaller inputs");
  if (count == 0)
    refuse(what + ": '" + x.name + "' has the shape " + to_string(x.shape) +
           " and no elements. Choose outputs that do not need it (--output-value NAME)");
}

/// First input that is data and not float32, or null; refuses empty ones.
const value* other_than_float(const context& c) {
  const value* other = nullptr;
  for (std::size_t i = 0; i < c.op().inputs.size(); ++i) {
    if (!c.has(i) || c.input(i).constant) continue;
    const value& x = c.input(i);
    if (count_of(x.shape) == 0)
      c.refuse("input '" + x.name + "' has no elements. Choose outputs that do not need it (--output-value NAME)");
    if (x.type != element::f32 && other == nullptr) other = &x;
  }
  return other;
}

void rewrite(context& c, const node& n) {
  c.begin(n);
  for (value_id v : n.outputs) require_elements(c.source(), v, "node '" + n.name + "' (" + n.op + ")");
  const canonical::rule* r = canonical::find_rule(n);
  if (r == nullptr)
    c.refuse(
        "the engine has no kernel for this operator. Replace it in the exporter by operators of "
        "docs/reference/operators.md, or " +
        cure_that_ends_before(c.source(), n));
  const value* other = other_than_float(c);
  if (r->takes == canonical::element_types::any || other == nullptr)
    r->rewrite(c);
  else if (r->rewrite_integers != nullptr && canonical::is_computed_integer(c.in_type(0)))
    r->rewrite_integers(c);
  else
    c.refuse("input '" + other->name + "' is " + name_of(other->type) +
             ", but this operator computes float32 only. Export the model in float32");
}

/// Takes the ports that are states out of the program's inputs and outputs.
void separate_states(program& p, const std::vector<state_link>& states) {
  const auto take = [&](std::vector<int>& ports, const std::string& name) {
    const auto found = std::find_if(ports.begin(), ports.end(),
                                    [&](int v) { return p.values[static_cast<std::size_t>(v)].name == name; });
    if (found == ports.end()) refuse("'" + name + "' is no port of the model, so it cannot be a state");
    const int v = *found;
    ports.erase(found);
    return v;
  };
  for (const state_link& s : states) {
    const int input = take(p.inputs, s.input);
    const int output = take(p.outputs, s.output);
    int initial = no_value;
    if (s.initial) initial = p.add({s.input + "#initial", s.initial->type, s.initial->shape, s.initial});
    p.states.push_back({input, output, initial});
  }
}

}

program canonicalise(const graph& g, const std::vector<state_link>& states, byte_kernels bytes, const graph* bounds) {
  context c(g, bytes == byte_kernels::present, bounds);
  program& p = c.made();
  for (value_id v : g.inputs) {
    require_elements(g, v, "the model's inputs");
    p.inputs.push_back(c.of(v));
  }
  for (const node& n : g.nodes) rewrite(c, n);
  for (value_id v : g.outputs) {
    require_elements(g, v, "the model's outputs");
    p.outputs.push_back(c.of(v));
  }
  separate_states(p, states);
  return std::move(p);
}

std::vector<std::string> operators_with_rules() {
  std::vector<std::string> names;
  for (const auto& entry : canonical::rules()) names.push_back(entry.first);
  return names;
}

}
