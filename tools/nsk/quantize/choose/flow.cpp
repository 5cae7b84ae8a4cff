// SPDX-License-Identifier: MIT
#include "quantize/choose/flow.hpp"

#include <algorithm>
#include <string>

#include "graph/integer_range.hpp"
#include "resolve/integers/byte_functions.hpp"

namespace nsk::tool {
namespace {

/// What an operator does with numbers that bytes store.
enum class role {
  none,
  function,  ///< of one number: a table
  sum,       ///< or difference, or product, of two tensors
  join,      ///< Concat
  move,      ///< elements, or the largest of some: the scale stays
  mean
};

class flow_planner {
 public:
  flow_planner(const graph& g, const std::vector<float_layer>& layers) : m_graph(g) {
    for (const node& n : g.nodes)
      for (const value_id v : n.inputs)
        if (v != no_value && !is_constant(v)) m_readers[v].push_back(&n);
    for (const float_layer& l : layers) {
      m_layer_of[l.result] = &l;
      m_layers.insert(&g.nodes[l.node]);
      m_wanted.insert(l.input);
      m_flow.stored.insert(l.input);
    }
  }

  byte_flow plan() {
    for (auto n = m_graph.nodes.rbegin(); n != m_graph.nodes.rend(); ++n) want(*n);
    for (const auto& [result, layer] : m_layer_of) store_layer(*layer);
    for (const value_id v : m_flow.stored) m_source[v] = v;
    for (const node& n : m_graph.nodes)
      if (follow(n)) m_flow.between.insert(&n);
    for (const node& n : m_graph.nodes) join_layer(n);
    for (const node& n : m_graph.nodes) share(n);
    return std::move(m_flow);
  }

 private:
  bool is_constant(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)].constant != nullptr; }
  bool is_float(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)].type == element::f32; }
  std::vector<value_id> operands(const node& n) const {
    std::vector<value_id> result;
    for (const value_id v : n.inputs)
      if (v != no_value && !is_constant(v)) result.push_back(v);
    return result;
  }

  role role_of(const node& n) const {
    static const std::set<std::string> movers = {"DepthToSpace", "Flatten",   "Identity",  "MaxPool",      "Pad",
                                                 "Reshape",      "Resize",    "Slice",     "SpaceToDepth", "Split",
                                                 "Squeeze",      "Transpose", "Unsqueeze", "Upsample"};
    static const std::set<std::string> means = {"AveragePool", "GlobalAveragePool", "ReduceMean"};
    const std::vector<value_id> from = operands(n);
    if (!n.domain.empty() || from.empty() || (n.outputs.size() != 1 && n.op != "Split") || m_layers.count(&n) != 0 ||
        !std::all_of(from.begin(), from.end(), [&](value_id v) { return is_float(v); }))
      return role::none;
    if (n.op == "Concat") return role::join;
    if (movers.count(n.op) != 0) {
      const bool enlarges = n.op == "Resize" || n.op == "Upsample";
      const bool moves =
          from.size() == 1 && n.inputs[0] == from[0] && (!enlarges || n.text("mode", "nearest") == "nearest");
      return moves ? role::move : role::none;
    }
    if (means.count(n.op) != 0) return role::mean;
    const std::set<value_id> different(from.begin(), from.end());
    const bool arithmetic = n.op == "Add" || n.op == "Sub" || n.op == "Mul";
    if (different.size() == 2 && arithmetic) return role::sum;
    if (!is_byte_function(n)) return role::none;
    if (n.op == "PRelu" && is_by_channels(n)) return role::function;
    for (const value_id v : n.inputs)
      if (v != no_value && is_constant(v) && m_graph.values[static_cast<std::size_t>(v)].constant->count() != 1)
        return role::none;
    return role::function;
  }

  /// Whether a PRelu has a constant slope for each channel of images that are worth tables.
  bool is_by_channels(const node& n) const {
    constexpr std::int64_t min_pixels = 32, max_channels = 4096;
    const shape_t& x = m_graph.values[static_cast<std::size_t>(n.inputs[0])].shape;
    const auto& slope = m_graph.values[static_cast<std::size_t>(n.inputs[1])].constant;
    if (x.size() != 4 || !slope || slope->count() != x[1] || x[1] > max_channels) return false;
    return slope->shape.size() >= 3 && slope->shape[slope->shape.size() - 3] == x[1] &&
           x[0] * x[2] * x[3] >= min_pixels;
  }

  bool is_wanted(const node& n) const {
    return std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id v) { return m_wanted.count(v) != 0; });
  }
  /// A result is wanted as bytes where it leads to a layer.
  void want(const node& n) {
    if (!is_wanted(n) || role_of(n) == role::none) return;
    for (const value_id v : operands(n)) m_wanted.insert(v);
  }

  /// The result of a layer is bytes where it leads to another one. Sums of depthwise and transposed layers have no
  /// kernel.
  void store_layer(const float_layer& l) {
    const bool has_sums = !l.weights.depthwise && m_graph.nodes[l.node].op != "ConvTranspose";
    if (m_wanted.count(l.output) == 0 && has_sums)
      m_flow.real.insert(l.node);
    else
      m_flow.stored.insert(l.output);
  }

  /// The stored value of which `v` is a function; no_value where there is none.
  value_id source_of(value_id v) const {
    const auto found = m_source.find(v);
    return found == m_source.end() ? no_value : found->second;
  }
  void store(value_id v) {
    m_flow.stored.insert(v);
    m_source[v] = v;
  }
  /// Makes sure that `v` is bytes, moved or not.
  void hold(value_id v) {
    if (m_flow.stored.count(v) == 0 && m_held.count(v) == 0) store(v);
  }
  /// What follows `v` alone and limits it, which is stored in its place.
  value_id limited(value_id v) const {
    const auto readers = m_readers.find(v);
    if (readers == m_readers.end() || readers->second.size() != 1 || is_output(v)) return v;
    const node& reader = *readers->second[0];
    return reader.op == "Relu" || (reader.op == "Clip" && role_of(reader) == role::function) ? reader.outputs[0] : v;
  }
  bool is_output(value_id v) const {
    return std::find(m_graph.outputs.begin(), m_graph.outputs.end(), v) != m_graph.outputs.end();
  }

  /// Notes what becomes bytes of what the node makes, in the order of the nodes. Returns whether it computes on bytes.
  bool follow(const node& n) {
    const role r = role_of(n);
    if (r == role::none || !is_wanted(n)) return false;
    const std::vector<value_id> from = operands(n);
    if (!std::all_of(from.begin(), from.end(), [&](value_id v) { return source_of(v) != no_value; })) return false;
    const value_id result = n.outputs[0];
    if (r == role::function) {
      const bool one =
          std::all_of(from.begin(), from.end(), [&](value_id v) { return source_of(v) == source_of(from[0]); });
      if (one && m_flow.stored.count(result) == 0) m_source[result] = source_of(from[0]);
      return one;
    }
    if (r == role::sum && source_of(from[0]) == source_of(from[1]) && m_held.count(from[0]) == 0 &&
        m_held.count(from[1]) == 0 && is_byte_function(n)) {  // x * sigmoid(x)
      if (m_flow.stored.count(result) == 0) m_source[result] = source_of(from[0]);
      return true;
    }
    for (const value_id v : from) hold(v);
    if (r == role::move) {
      for (const value_id v : n.outputs) {
        m_held.insert(v);
        m_source[v] = v;
      }
      return true;
    }
    const value_id kept = limited(result);
    if (kept != result) m_flow.between.insert(m_readers.at(result)[0]);
    store(kept);
    return true;
  }

  /// Whether a sum with numbers of the result's shape can be part of the layer that makes `v`.
  bool takes_sum(value_id v, value_id sum) const {
    const auto layer = m_layer_of.find(v);
    if (layer == m_layer_of.end() || layer->second->output != v || m_readers.at(v).size() != 1 || is_output(v))
      return false;
    const node& n = m_graph.nodes[layer->second->node];
    const bool grouped = n.integer("group", 1) != 1;
    return n.op == "Conv" && (!grouped || layer->second->weights.depth >= min_group_channels) && same_shape(v, sum);
  }
  bool same_shape(value_id a, value_id b) const {
    return m_graph.values[static_cast<std::size_t>(a)].shape == m_graph.values[static_cast<std::size_t>(b)].shape;
  }
  /// An Add of what a convolution makes, and nothing else reads: the sum alone is stored.
  void join_layer(const node& n) {
    if (n.op != "Add" || role_of(n) != role::sum || m_flow.between.count(&n) == 0) return;
    std::vector<value_id> from = operands(n);
    const auto place = [&](value_id v) { return m_layer_of.count(v) != 0 ? m_layer_of.at(v)->node : 0; };
    if (place(from[0]) < place(from[1])) std::swap(from[0], from[1]);  // the later one waits for none
    for (const value_id v : from) {
      const value_id other = v == from[0] ? from[1] : from[0];
      if (!takes_sum(v, n.outputs[0]) || m_flow.stored.count(v) == 0 || !same_shape(other, v)) continue;
      m_flow.stored.erase(v);
      m_flow.stored.insert(other);  // where it is moved, by the scale that it had before
      m_flow.joined[&n] = m_layer_of.at(v)->node;
      return;
    }
  }
  /// Finds values whose scale is another one's.
  void share(const node& n) {
    const role r = role_of(n);
    for (const value_id result : n.outputs) {
      if (r != role::move) break;
      const value_id from = m_origin[result] = origin_of(n.inputs[0]);
      if (m_flow.stored.count(result) != 0 && m_flow.stored.count(from) != 0) m_flow.like[result] = from;
    }
    if (r != role::join || m_flow.stored.count(n.outputs[0]) == 0) return;
    const value_id result = n.outputs[0];
    const std::vector<value_id> parts = operands(n);
    const value_id first = origin_of(parts[0]);
    const auto is_first = [&](value_id v) { return origin_of(v) == first; };
    if (m_flow.stored.count(first) != 0 && std::all_of(parts.begin(), parts.end(), is_first)) {
      m_flow.like[result] = first;
      return;
    }
    for (const value_id v : parts)
      if (m_flow.stored.count(v) != 0 && m_flow.like.count(v) == 0 && m_readers.at(v).size() == 1 && !is_output(v))
        m_flow.like[v] = result;
  }
  value_id origin_of(value_id v) const {
    const auto found = m_origin.find(v);
    return found == m_origin.end() ? v : found->second;
  }

  const graph& m_graph;
  std::map<value_id, std::vector<const node*>> m_readers;
  std::set<const node*> m_layers;
  std::map<value_id, const float_layer*> m_layer_of;  ///< by results
  std::set<value_id> m_wanted, m_held;
  std::map<value_id, value_id> m_source, m_origin;
  byte_flow m_flow;
};

}

byte_flow plan_flow(const graph& g, const std::vector<float_layer>& layers) { return flow_planner(g, layers).plan(); }

}
