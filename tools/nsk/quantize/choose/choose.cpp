// SPDX-License-Identifier: MIT
#include "quantize/choose/choose.hpp"

#include <map>

#include "quantize/choose/flow.hpp"
#include "quantize/choose/min_cut.hpp"

namespace nsk::tool {
namespace {

/// Who makes a value of floats, and who reads it; -1 stands for the ports, which are floats.
struct passage {
  int maker = -1;
  std::vector<int> readers;
};

/// A sum on bytes that is part of a layer, and what it costs more where the layer stays float32.
struct joined_sum {
  int sum, layer;
  double alone;
};

std::map<value_id, passage> passages_of(const graph& g) {
  std::map<value_id, passage> result;
  const auto at = [&](value_id v) -> const value& { return g.values[static_cast<std::size_t>(v)]; };
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    for (const value_id v : g.nodes[i].inputs)
      if (v != no_value && at(v).type == element::f32 && !at(v).constant)
        result[v].readers.push_back(static_cast<int>(i));
    for (const value_id v : g.nodes[i].outputs)
      if (v != no_value) result[v].maker = static_cast<int>(i);
  }
  for (const value_id v : g.outputs) result[v].readers.push_back(-1);
  return result;
}

/// The first side of the cut are the steps on bytes.
void add_conversions(min_cut& cut, const passage& p, double cost, int ports) {
  const auto of = [&](int node) { return node < 0 ? ports : node; };
  const int numbers = cut.add_node(), stored = cut.add_node();
  cut.add_edge(of(p.maker), numbers, cost);
  cut.add_edge(stored, of(p.maker), cost);
  for (const int r : p.readers) {
    cut.add_edge(numbers, of(r), min_cut::never);
    cut.add_edge(of(r), stored, min_cut::never);
  }
}

}

layer_choice choose_layers(const graph& g, const std::vector<float_layer>& layers, const std::set<std::string>& kept,
                           const std::set<std::string>& integers, const target& t) {
  const int ports = static_cast<int>(g.nodes.size());
  std::map<std::size_t, const float_layer*> layer_at;
  for (const float_layer& l : layers) layer_at[l.node] = &l;
  const byte_flow flow = plan_flow(g, layers);
  std::set<const node*> on_bytes = flow.between;
  const std::map<value_id, passage> passages = passages_of(g);
  for (const float_layer& l : layers)  // a limit behind a layer is part of it
    if (l.output != l.result) on_bytes.insert(&g.nodes[static_cast<std::size_t>(passages.at(l.output).maker)]);

  min_cut cut(ports + 1);
  cut.add_costs(ports, min_cut::never, 0);
  std::vector<layer_cost> costs;
  std::vector<joined_sum> sums;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const auto layer = layer_at.find(i);
    layer_cost c = layer != layer_at.end() ? cost_of(g, *layer->second, t)
                                           : cost_of(g, g.nodes[i], on_bytes.count(&g.nodes[i]) != 0);
    if (layer != layer_at.end() && kept.count(layer->second->name) != 0) c.bytes = min_cut::never;
    if (const auto j = flow.joined.find(&g.nodes[i]); j != flow.joined.end()) {
      const std::int64_t elements = count_of(g.values[static_cast<std::size_t>(g.nodes[i].outputs[0])].shape);
      c.bytes = sum_cost(elements, true);
      sums.push_back({static_cast<int>(i), static_cast<int>(j->second), sum_cost(elements, false) - c.bytes});
      cut.add_edge(sums.back().sum, sums.back().layer, sums.back().alone);
    }
    const bool is_forced = layer != layer_at.end() && integers.count(layer->second->name) != 0;
    cut.add_costs(static_cast<int>(i), c.bytes, is_forced ? min_cut::never : c.floats);
    costs.push_back(c);
  }
  const auto cost = [&](value_id v) { return conversion_cost(count_of(g.values[static_cast<std::size_t>(v)].shape)); };
  for (const auto& [v, p] : passages) add_conversions(cut, p, cost(v), ports);

  const std::vector<bool> bytes = cut.first_side();
  layer_choice result;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    result.float_cycles += costs[i].floats;
    result.cycles += bytes[i] ? costs[i].bytes : costs[i].floats;
  }
  for (const joined_sum& s : sums)
    if (bytes[static_cast<std::size_t>(s.sum)] && !bytes[static_cast<std::size_t>(s.layer)]) result.cycles += s.alone;
  for (const auto& [v, p] : passages) {
    const auto is_bytes = [&](int node) { return node >= 0 && bytes[static_cast<std::size_t>(node)]; };
    bool differs = false;
    for (const int r : p.readers) differs = differs || is_bytes(r) != is_bytes(p.maker);
    if (differs) result.cycles += cost(v);
  }
  for (const auto& [i, l] : layer_at)
    if (!bytes[i]) result.floats.insert(l->name);
  return result;
}

}
