// SPDX-License-Identifier: MIT
#include "resolve/chosen_outputs.hpp"

#include <algorithm>
#include <set>

#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

bool has(const std::vector<value_id>& list, value_id v) { return std::find(list.begin(), list.end(), v) != list.end(); }

bool begins_with(const std::string& text, const std::string& start) {
  return text.size() > start.size() && text.compare(0, start.size(), start) == 0;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Whether a value of a graph inside `n` has this name, or one that is it behind a prefix ("loop/3/x").
bool holds_inside(const node& n, const std::string& name) {
  for (const graph* sub : graphs_inside(n)) {
    for (const value& v : sub->values)
      if (v.name == name || ends_with(name, "/" + v.name)) return true;
    for (const node& inner : sub->nodes)
      if (holds_inside(inner, name)) return true;
  }
  return false;
}

/// What a value may be called: values of the graph, and of those inside its nodes.
void collect_names(const graph& g, std::vector<std::string>& names) {
  for (const value& v : g.values) names.push_back(v.name);
  for (const node& n : g.nodes)
    for (const graph* sub : graphs_inside(n)) collect_names(*sub, names);
}

std::vector<std::string> output_names(const graph& g) {
  std::vector<std::string> names;
  for (const value_id v : g.outputs) names.push_back(g.at(v).name);
  return names;
}

/// Outputs that the source lists and nothing produces are left out where there are others.
void drop_missing_outputs(graph& g) {
  const std::vector<std::string>& missing = g.missing_outputs;
  if (missing.empty()) return;
  if (g.outputs.empty())
    refuse("the list of outputs names " + quoted(missing) +
           ", which nothing produces, and no other output. The file is damaged or was cut by hand");
  for (const std::string& name : missing)
    g.facts.warnings.push_back("output '" + name + "' is left out: the model lists it, but nothing in it produces it");
}

}

chosen_outputs::chosen_outputs(graph& g, const input_options& options) : m_graph(g), m_names(options.outputs) {
  if (m_names.empty())
    drop_missing_outputs(g);
  else
    choose();
  m_count = g.outputs.size();
}

void chosen_outputs::choose() {
  std::set<std::string> taken;
  std::vector<value_id> own;
  own.swap(m_graph.outputs);
  const auto give_back = [&] { m_graph.outputs = own; };
  for (const std::string& name : m_names) {
    if (!taken.insert(name).second) misuse("--output-value names '" + name + "' twice");
    const std::vector<std::string>& missing = m_graph.missing_outputs;
    if (std::find(missing.begin(), missing.end(), name) != missing.end()) {
      give_back();
      refuse("--output-value names '" + name +
             "', which the model lists as an output but nothing in it produces. Its other outputs: " +
             quoted(output_names(m_graph)) + ". Export the model again, or choose one of those");
    }
    if (const value_id v = m_graph.find(name); v != no_value) {
      m_graph.outputs.push_back(v);
    } else if (add_owners(name)) {
      m_are_inside = true;
    } else {
      give_back();
      std::vector<std::string> known;
      collect_names(m_graph, known);
      misuse("--output-value names '" + name + "', which is no tensor of the model." + did_you_mean(name, known) +
             " Its outputs: " + quoted(output_names(m_graph)));
    }
  }
  for (const state_link& state : m_graph.states)
    if (const value_id v = m_graph.find(state.output); !has(m_graph.outputs, v)) {
      m_states.push_back(v);
      m_graph.outputs.push_back(v);
    }
}

/// Makes outputs of the nodes that may give a value of this name: by a graph inside, by what is spelled out in their
/// place ("node/part"), or beside a result ("result.count"). Returns whether there are such nodes.
bool chosen_outputs::add_owners(const std::string& name) {
  bool found = false;
  for (const node& n : m_graph.nodes) {
    const bool owns = holds_inside(n, name) || begins_with(name, n.name + "/") ||
                      std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id v) {
                        return v != no_value && begins_with(name, m_graph.at(v).name + ".");
                      });
    for (const value_id v : n.outputs) {
      if (!owns || v == no_value) continue;
      found = true;
      if (!has(m_graph.outputs, v)) m_graph.outputs.push_back(v);
    }
  }
  return found;
}

value_id chosen_outputs::required(const std::string& name, const std::string& refusal) const {
  const value_id v = m_graph.find(name);
  if (v != no_value && m_graph.at(v).typed) return v;
  if (!refusal.empty()) refuse(refusal);
  std::vector<std::string> known;
  collect_names(m_graph, known);
  misuse("--output-value names '" + name + "', which is no tensor of the model, or in a branch that is not taken." +
         did_you_mean(name, known));
}

void chosen_outputs::settle(const std::string& refusal) {
  if (!m_are_inside) return;
  std::vector<value_id> all;
  for (const std::string& name : m_names) all.push_back(required(name, refusal));
  const std::vector<value_id> added(m_graph.outputs.begin() + static_cast<std::ptrdiff_t>(m_count),
                                    m_graph.outputs.end());
  for (const value_id v : m_states) all.push_back(v);
  for (const value_id v : added)
    if (!has(all, v)) all.push_back(v);
  m_graph.outputs = std::move(all);
}

}
