// SPDX-License-Identifier: MIT
#include "resolve/length_reader.hpp"

#include <algorithm>

namespace nsk::tool {

length_view::length_view(graph& g, node_placer& placer, length_trial& trial)
    : m_graph(g), m_placer(placer), m_trial(trial) {
  if (trial.exported == nullptr) return;
  for (const value& v : trial.exported->values) m_before.emplace(v.name, &v);
  for (const value_id v : g.inputs)
    if (const value* old = before(v)) trial.lengths.add(old->shape, at(v).shape);
}

const value* length_view::before(value_id v) const {
  if (v == no_value) return nullptr;
  const auto found = m_before.find(m_graph.values[static_cast<std::size_t>(v)].name);
  return found == m_before.end() ? nullptr : found->second;
}

bool length_view::shapes_of(value_id v, shape_t& was, shape_t& now) {
  const value* old = before(v);
  now = at(v).shape;
  was = old == nullptr ? now : old->shape;
  return was.size() == now.size();
}

bool length_view::changed(value_id v) {
  const value* old = before(v);
  return v != no_value && old != nullptr && old->shape != at(v).shape;
}

bool length_view::any_changed(const node& n) {
  return std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id v) { return v != no_value && changed(v); });
}

bool length_view::is_own_constant(const node& n, std::size_t i) {
  if (!has(n, i) || !at(n.inputs[i]).constant) return false;
  const value* old = before(n.inputs[i]);
  return old == nullptr || (old->constant && old->constant->data == at(n.inputs[i]).constant->data);
}

void length_view::doubt(const node& n, const std::string& why) {
  m_trial.doubts.push_back(describe(m_graph, n) + ": " + why);
}

void length_view::give_up(const node& n, const std::string& why) const {
  throw no_reading(describe(m_graph, n) + ": " + why);
}

void length_reader::rewrite(node& n) {
  const auto named = std::find_if(n.outputs.begin(), n.outputs.end(), [](value_id v) { return v != no_value; });
  if (named == n.outputs.end()) return;
  const std::string key = at(*named).name;
  if (m_trial.replays) {
    const auto found = m_trial.chosen.find(key);
    if (found != m_trial.chosen.end()) apply(found->second, n, m_placer);
    return;
  }
  m_trial.has_weights = (n.op == "Gemm" || n.op == "MatMul" || n.op == "Conv" || n.op == "ConvTranspose") &&
                        (is_own_constant(n, 0) || is_own_constant(n, 1));
  const std::vector<reading> readings = readings_of(n);
  if (readings.empty()) return;
  std::size_t pick = 0;
  if (readings.size() > 1) {
    const std::size_t place = m_trial.reached++;
    if (place == m_trial.picks.size()) {
      m_trial.picks.push_back(0);
      m_trial.counts.push_back(readings.size());
      m_trial.points.push_back(describe(m_graph, n));
    }
    pick = m_trial.picks[place];
  }
  m_trial.chosen[key] = readings[pick];
  apply(readings[pick], n, m_placer);
}

void length_reader::look_at(const node& n) {
  if (m_trial.replays) return;
  for (const value_id v : n.outputs)
    if (const value* old = before(v)) m_trial.lengths.add(old->shape, at(v).shape);
  doubt_results(n);
  note_merges(n);
  follow_origin(n);
  if (!any_changed(n)) return;
  doubt_unknown(n);
  doubt_broadcast(n);
  doubt_operands(n);
  doubt_indices(n);
  if (n.op == "Pad") doubt_pads(n);
}

}
