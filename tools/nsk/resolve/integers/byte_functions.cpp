// SPDX-License-Identifier: MIT
#include "resolve/integers/byte_functions.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "graph/onnx_type.hpp"

namespace nsk::tool {
namespace {

constexpr int opset = 13;              // of the nodes around a table
constexpr std::size_t max_nodes = 32;  // of one function
// A function for each channel: what its tables cost, and how many elements are worth one.
constexpr std::int64_t max_channels = 4096, min_elements_of_channel = 32;

}

bool is_byte_function(const node& n) {
  static const std::set<std::string> functions = {
      "Abs",     "Add",  "Ceil",      "Celu",        "Clip",     "Div",        "Elu",   "Erf",   "Exp",
      "Floor",   "Gelu", "HardSwish", "HardSigmoid", "Identity", "LeakyRelu",  "Log",   "Max",   "Min",
      "Mish",    "Mul",  "Neg",       "PRelu",       "Pow",      "Reciprocal", "Relu",  "Round", "Selu",
      "Sigmoid", "Sign", "Softplus",  "Softsign",    "Sqrt",     "Sub",        "Swish", "Tanh",  "ThresholdedRelu"};
  return n.domain.empty() && n.outputs.size() == 1 && n.outputs[0] != no_value && functions.count(n.op) != 0;
}

/// The nodes between a DequantizeLinear and what is stored, each behind those that it reads.
struct byte_functions::chain {
  const node* source = nullptr;  ///< the DequantizeLinear
  value_id start = no_value;     ///< its result
  std::vector<const node*> nodes;
  std::size_t looked_at = 0;
  std::vector<value_id> lines;  ///< constants of more than one number
  std::size_t axis = 0;         ///< along which they vary, in x; 0: there are none
};

void byte_functions::see(const node& n) {
  if (is_byte_function(n)) m_made.emplace(n.outputs[0], n);
}

/// Follows `v` back to a stored number; false where it depends on anything else.
bool byte_functions::follow(value_id v, chain& c) const {
  if (c.start == v) return true;
  if (const node* wide = m_stored.widened(v); wide != nullptr && c.source == nullptr) {
    if (!m_stored.widens_bytes(*wide)) return false;
    c.source = wide;
    c.start = v;
    return true;
  }
  const auto found = m_made.find(v);
  if (found == m_made.end()) return false;
  const node& n = found->second;
  if (std::find(c.nodes.begin(), c.nodes.end(), &n) != c.nodes.end()) return true;
  if (++c.looked_at > max_nodes) return false;
  for (const value_id input : n.inputs) {
    if (input == no_value) continue;
    const auto& constant = m_placer.at(input).constant;
    if (constant != nullptr && constant->count() != 1) c.lines.push_back(input);
    if (constant == nullptr && !follow(input, c)) return false;
  }
  c.nodes.push_back(&n);
  return true;
}

/// Finds the only axis of x along which the chain's constants vary; false where they vary otherwise, or tables would
/// be larger than what they are good for.
bool byte_functions::find_axis(chain& c) const {
  const shape_t& x = m_placer.at(c.source->inputs[0]).shape;
  for (const value_id v : c.lines) {
    const shape_t& shape = m_placer.at(v).shape;
    if (shape.size() > x.size()) return false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::size_t axis = x.size() - shape.size() + d;
      if (shape[d] == 1) continue;
      if (axis == 0 || (c.axis != 0 && c.axis != axis) || shape[d] != x[axis]) return false;
      c.axis = axis;
    }
  }
  return c.lines.empty() ||
         (c.axis != 0 && x[c.axis] <= max_channels && count_of(x) / x[c.axis] >= min_elements_of_channel);
}

/// The nodes of `c` once more, behind every byte, where they fold to a constant; last first.
std::vector<node> byte_functions::table_of(const node& q, const chain& c, value_id table) {
  const element type = m_placer.at(c.source->inputs[0]).type;
  const shape_t& x = m_placer.at(c.source->inputs[0]).shape;
  const std::int64_t channels = c.axis == 0 ? 1 : x[c.axis];
  shape_t shape = {256};
  if (c.axis != 0) shape.resize(x.size(), 1), shape[c.axis] = channels;
  array every(type, shape);
  for (std::int64_t k = 0; k < every.count(); ++k) {
    const std::int64_t i = k / channels;
    every.set_integer(k, type == element::i8 && i > 127 ? i - 256 : i);
  }
  std::map<value_id, value_id> copies = {
      {c.source->inputs[0], m_placer.new_constant(q, "every_byte", std::move(every))}};
  std::vector<const node*> all = {c.source};
  all.insert(all.end(), c.nodes.begin(), c.nodes.end());
  std::vector<node> copied;
  for (const node* original : all) {
    node n = *original;
    const value_id result = m_placer.new_value(q, "of_every_byte" + std::to_string(copied.size()));
    copies[original == c.source ? c.start : n.outputs[0]] = result;
    for (value_id& v : n.inputs)
      if (const auto copy = copies.find(v); copy != copies.end()) v = copy->second;
    n.name = m_placer.at(result).name;
    n.outputs = {result};
    copied.push_back(std::move(n));
  }
  node store = q;
  store.inputs[0] = copies.at(q.inputs[0]);
  array length(element::i64, {c.axis == 0 ? 1 : 2});
  length.set_integer(0, 256);
  if (c.axis != 0) length.set_integer(1, channels);
  const value_id stored = m_placer.new_value(q, "all"), line = m_placer.new_constant(q, "line", std::move(length)),
                 lines = c.axis == 0 ? table : m_placer.new_value(q, "of_every_channel");
  store.name = m_placer.at(stored).name;
  store.outputs = {stored};
  copied.push_back(std::move(store));
  // numbers of shape [1, 1] in a function give its result more axes
  copied.push_back(node_placer::helper(q, "Reshape", "line", {stored, line}, lines, {}, opset));
  if (c.axis != 0) copied.push_back(node_placer::helper(q, "Transpose", "table", {lines}, table, {}, opset));
  std::reverse(copied.begin(), copied.end());
  return copied;
}

bool byte_functions::replace(const node& q) {
  if (!m_stored.stores_bytes(q)) return false;
  chain c;
  if (!follow(q.inputs[0], c) || c.source == nullptr) return false;
  const value& x = m_placer.at(c.source->inputs[0]);
  if (x.shape != m_placer.at(q.inputs[0]).shape || !find_axis(c)) return false;
  const value_id table = m_placer.new_value(q, "table");
  const auto axis = static_cast<std::int64_t>(c.axis);
  const value_id bytes = c.source->inputs[0];
  std::vector<node> nodes;
  if (c.axis != 0) {
    nodes.push_back({"ChannelTables", "netsuke", q.name, 1, {bytes, table}, {q.outputs[0]}, {{"axis", axis}}});
  } else {
    const value_id place = m_placer.new_value(q, "place");
    nodes.push_back({"Gather", "", q.name, opset, {table, place}, {q.outputs[0]}, {{"axis", axis}}});
    nodes.push_back(
        node_placer::helper(q, "Cast", "place", {bytes}, place, {{"to", number_of(onnx_type::int32)}}, opset));
  }
  for (node& n : table_of(q, c, table)) nodes.push_back(std::move(n));
  m_placer.place(std::move(nodes));
  return true;
}

}
