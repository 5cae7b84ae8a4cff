// SPDX-License-Identifier: MIT
#include "import/json/write.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "errors.hpp"
#include "graph/names.hpp"
#include "import/json/graph_json.hpp"
#include "io/files.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t longest_file_name = 100;

std::string name_or_nothing(const graph& g, value_id v) { return v == no_value ? std::string() : g.at(v).name; }

graph_json number_json(float x) {
  if (std::isnan(x)) return nan_text;
  if (std::isinf(x)) return x > 0 ? infinity_text : minus_infinity_text;
  return x;
}

/// Whether the elements come back from text: all but float64, and bits that "nan" does not give.
bool fits_in_text(const array& a) {
  if (a.count() > max_inline || a.type == element::f64) return false;
  for (std::int64_t i = 0; a.type == element::f32 && i < a.count(); ++i) {
    const float plain = std::numeric_limits<float>::quiet_NaN();
    if (std::isnan(a.as<float>()[i]) && std::memcmp(&a.as<float>()[i], &plain, sizeof plain) != 0) return false;
  }
  return true;
}

graph_json element_json(const array& a, std::int64_t i) {
  if (a.type == element::f32) return number_json(a.as<float>()[i]);
  if (a.type == element::boolean) return a.as<std::uint8_t>()[i] != 0;
  if (a.type == element::u64) return a.as<std::uint64_t>()[i];
  return a.integer(i);
}

/// Collects the files of one graph and of those inside it.
class writer {
 public:
  explicit writer(const std::string& folder) : m_folder(folder) {}

  graph_json file_json(const graph& g);
  std::vector<graph_text::file> files;

 private:
  using versions = std::map<std::string, int>;
  graph_json constant_json(const std::string& name, const array& a);
  graph_json constant_json(const value& v);
  graph_json attribute_json(const attribute& a, const std::string& who, int depth);
  graph_json node_json(const graph& g, const node& n, int depth);
  graph_json ports_json(const graph& g, const std::vector<value_id>& ports, bool outputs);
  void add_graph(graph_json& j, const graph& g, int depth);
  std::string file_for(const std::string& name);

  std::string m_folder;
  versions m_opsets;
  std::set<std::string> m_names;  ///< of files, in lower case: some systems see no difference
  const graph* m_main = nullptr;
};

std::string writer::file_for(const std::string& name) {
  std::string base = file_name_of(name).substr(0, longest_file_name);
  if (base.empty() || base[0] == '.') base = "_" + base;
  const auto lower = [](std::string s) {
    std::transform(s.begin(), s.end(), s.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return s;
  };
  std::string unique = base;
  for (int n = 2; !m_names.insert(lower(unique)).second; ++n) unique = base + "_" + std::to_string(n);
  return unique + ".npy";
}

graph_json writer::constant_json(const std::string& name, const array& a) {
  graph_json j = graph_json::object();
  if (!fits_in_text(a)) {
    const std::string file = file_for(name);
    j["file"] = m_folder + "/" + file;
    files.push_back({file, a});
    return j;
  }
  j["type"] = name_of(a.type);
  j["shape"] = a.shape;
  j["values"] = graph_json::array();
  for (std::int64_t i = 0; i < a.count(); ++i) j["values"].push_back(element_json(a, i));
  return j;
}

graph_json writer::constant_json(const value& v) {
  graph_json j = {{"name", v.name}};
  if (v.stored) j["tensor"] = v.stored->name;
  j.update(constant_json(v.stored ? v.stored->name : v.name, v.stored ? *v.stored->values : *v.constant));
  if (v.stored) j["permute"] = v.stored->permutation;
  return j;
}

/// Every kind of attribute, such that the reader makes the same one of it.
graph_json writer::attribute_json(const attribute& a, const std::string& who, int depth) {
  const auto text = [&](const std::string& s) {
    try {
      graph_json(s).dump();
    } catch (const graph_json::exception&) {
      refuse(who + " holds bytes that are no UTF-8, which JSON has no text for. Change it in the exporter");
    }
    return s;
  };
  if (const auto* i = std::get_if<std::int64_t>(&a)) return *i;
  if (const auto* x = std::get_if<float>(&a)) {
    if (std::isfinite(*x)) return *x;
    return {{"float", number_json(*x)}};
  }
  if (const auto* s = std::get_if<std::string>(&a)) return text(*s);
  if (const auto* t = std::get_if<array>(&a)) return {{"tensor", constant_json(who, *t)}};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a)) return *list;
  if (const auto* list = std::get_if<std::vector<float>>(&a)) {
    graph_json j = graph_json::array();
    for (const float x : *list) j.push_back(number_json(x));
    const bool plain =
        !list->empty() && std::all_of(list->begin(), list->end(), [](float x) { return std::isfinite(x); });
    if (plain) return j;
    return {{"floats", j}};
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&a)) {
    graph_json j = graph_json::array();
    for (const std::string& s : *list) j.push_back(text(s));
    if (!j.empty()) return j;
    return {{"strings", j}};
  }
  if (depth == max_graph_json_depth)
    refuse(who + ": graphs are nested more than " + std::to_string(max_graph_json_depth) +
           " deep, which the JSON does not hold. Export the model without control flow");
  graph_json j = graph_json::object();
  add_graph(j, *std::get<std::shared_ptr<graph>>(a), depth + 1);
  return {{"graph", j}};
}

graph_json writer::node_json(const graph& g, const node& n, int depth) {
  graph_json j = {{"name", n.name}, {"op", n.op}};
  if (!n.domain.empty()) j["domain"] = n.domain;
  if (m_opsets[n.domain] != n.version) j["opset"] = n.version;
  j["inputs"] = graph_json::array();
  j["outputs"] = graph_json::array();
  for (const value_id v : n.inputs) j["inputs"].push_back(name_or_nothing(g, v));
  for (const value_id v : n.outputs) j["outputs"].push_back(name_or_nothing(g, v));
  for (const auto& [key, a] : n.attributes)
    j["attributes"][key] = attribute_json(a, "node '" + n.name + "' (" + n.op + "): attribute '" + key + "'", depth);
  return j;
}

void add_facts(graph_json& j, const port_facts& facts) {
  if (!facts.description.empty()) j["description"] = facts.description;
  if (!facts.color.empty()) j["color"] = facts.color;
  if (!facts.mean.empty()) {
    j["mean"] = facts.mean;
    j["deviation"] = facts.deviation;
  }
  if (!facts.labels.empty()) j["labels"] = facts.labels;
}

graph_json writer::ports_json(const graph& g, const std::vector<value_id>& ports, bool outputs) {
  graph_json list = graph_json::array();
  for (const value_id id : ports) {
    const value& v = g.at(id);
    graph_json j = {{"name", v.name}};
    const auto declared = g.declared.find(v.name);
    if (!outputs && v.typed) j["type"] = name_of(v.type);
    if (outputs && declared != g.declared.end()) j["shape"] = declared->second;
    if (!outputs && v.known_rank) {
      j["shape"] = graph_json::array();
      for (std::size_t d = 0; d < v.shape.size(); ++d) {
        const bool named = v.shape[d] < 0 && d < v.symbols.size() && !v.symbols[d].empty();
        j["shape"].push_back(named ? graph_json(v.symbols[d]) : graph_json(v.shape[d]));
      }
    }
    const auto facts = m_main->facts.ports.find(v.name);
    if (&g == m_main && facts != m_main->facts.ports.end()) add_facts(j, facts->second);
    list.push_back(j);
  }
  return list;
}

/// Names that nodes, graphs inside them and outputs read.
void collect_read(const graph& g, std::set<std::string>& names) {
  for (const value_id v : g.outputs) names.insert(g.at(v).name);
  for (const node& n : g.nodes) {
    for (const value_id v : n.inputs) names.insert(name_or_nothing(g, v));
    for (const auto& [key, a] : n.attributes)
      if (const auto* inner = std::get_if<std::shared_ptr<graph>>(&a)) collect_read(**inner, names);
  }
}

void writer::add_graph(graph_json& j, const graph& g, int depth) {
  if (!g.name.empty()) j["name"] = g.name;
  j["inputs"] = ports_json(g, g.inputs, false);
  j["outputs"] = ports_json(g, g.outputs, true);
  for (const std::string& name : g.missing_outputs) j["outputs"].push_back({{"name", name}});
  std::set<std::string> read;
  collect_read(g, read);
  j["constants"] = graph_json::array();
  const std::set<value_id> captures(g.captures.begin(), g.captures.end());
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    const value& v = g.values[i];
    if (v.constant && read.count(v.name) != 0 && captures.count(static_cast<value_id>(i)) == 0)
      j["constants"].push_back(constant_json(v));
  }
  j["nodes"] = graph_json::array();
  for (const node& n : g.nodes) j["nodes"].push_back(node_json(g, n, depth));
}

/// The newest version of every domain, which nodes have unless they say otherwise.
void collect_opsets(const graph& g, std::map<std::string, int>& opsets) {
  for (const node& n : g.nodes) {
    int& newest = opsets[n.domain];
    newest = std::max(newest, n.version);
    for (const auto& [key, a] : n.attributes)
      if (const auto* inner = std::get_if<std::shared_ptr<graph>>(&a)) collect_opsets(**inner, opsets);
  }
}

graph_json writer::file_json(const graph& g) {
  m_main = &g;
  collect_opsets(g, m_opsets);
  graph_json j = {{graph_json_key, graph_json_version}};
  if (is_plain_text(g.producer) && !g.producer.empty()) j["producer"] = g.producer;
  for (const auto& [key, text] : g.facts.about) j["about"][key] = text;
  j["opsets"] = graph_json::object();
  for (const auto& [domain, version] : m_opsets)
    if (version > 0) j["opsets"][domain.empty() ? default_domain : domain] = version;
  add_graph(j, g, 0);
  for (const state_link& s : g.states) {
    graph_json state = {{"input", s.input}, {"output", s.output}};
    if (s.initial) state["initial"] = constant_json(s.input + ".initial", *s.initial);
    j["states"].push_back(state);
  }
  return j;
}

/// Whether a list or an object is written on one line: it is short, or holds no others.
bool fits_on_line(const graph_json& j) {
  constexpr std::size_t max_line = 100;
  if (!j.is_structured()) return true;
  if (j.is_array() && std::none_of(j.begin(), j.end(), [](const graph_json& e) { return e.is_structured(); }))
    return true;
  std::size_t elements = 0;
  for (const auto& e : j) elements += e.is_structured() ? e.size() + 1 : 1;
  return elements <= 20 && j.dump().size() <= max_line;
}

void print(const graph_json& j, std::size_t indent, std::string& to) {
  if (fits_on_line(j)) {
    to += j.dump();
    return;
  }
  const std::string inner(indent + 1, ' ');
  to += j.is_array() ? "[" : "{";
  bool first = true;
  for (const auto& [key, value] : j.items()) {
    to += (first ? "\n" : ",\n") + inner;
    if (j.is_object()) to += graph_json(key).dump() + ": ";
    print(value, indent + 1, to);
    first = false;
  }
  to += "\n" + std::string(indent, ' ') + (j.is_array() ? "]" : "}");
}

}

graph_text json_of_graph(const graph& g, const std::string& folder) {
  writer w(folder);
  graph_text result;
  print(w.file_json(g), 0, result.json);
  result.json += "\n";
  result.files = std::move(w.files);
  return result;
}

}
