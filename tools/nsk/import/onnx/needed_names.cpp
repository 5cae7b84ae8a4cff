// SPDX-License-Identifier: MIT
#include "import/onnx/needed_names.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace nsk::tool {

void collect_free_names(const wire::graph& g, std::set<std::string>& to) {
  std::unordered_set<std::string> defined;
  for (const wire::value_info& v : g.inputs) defined.insert(v.name);
  for (const wire::tensor& t : g.initializers) defined.insert(t.name);
  for (const wire::node& n : g.nodes) defined.insert(n.outputs.begin(), n.outputs.end());
  std::set<std::string> used;
  for (const wire::value_info& v : g.outputs) used.insert(v.name);
  for (const wire::node& n : g.nodes) {
    used.insert(n.inputs.begin(), n.inputs.end());
    for (const wire::attribute& a : n.attributes)
      if (a.g) collect_free_names(*a.g, used);
  }
  for (const std::string& name : used)
    if (!name.empty() && defined.count(name) == 0) to.insert(name);
}

needed_names::needed_names(const wire::graph& g, const std::vector<std::string>& outputs) {
  std::unordered_map<std::string, const wire::node*> producer;
  for (const wire::node& n : g.nodes)
    for (const std::string& name : n.outputs)
      if (!name.empty()) producer.emplace(name, &n);
  for (const wire::tensor& t : g.initializers) producer.emplace(t.name, nullptr);
  for (const wire::value_info& v : g.inputs) producer.emplace(v.name, nullptr);
  const auto exists = [&](const std::string& name) { return producer.count(name) != 0; };
  m_all = outputs.empty() || !std::all_of(outputs.begin(), outputs.end(), exists);
  if (m_all) return;
  std::vector<std::string> waiting = outputs;
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    const auto found = producer.find(name);
    if (!m_names.insert(name).second || found == producer.end() || found->second == nullptr) continue;
    std::set<std::string> read(found->second->inputs.begin(), found->second->inputs.end());
    for (const wire::attribute& a : found->second->attributes)
      if (a.g) collect_free_names(*a.g, read);
    waiting.insert(waiting.end(), read.begin(), read.end());
  }
}

bool needed_names::has(const wire::node& n) const {
  return m_all || std::any_of(n.outputs.begin(), n.outputs.end(), [&](const auto& o) { return m_names.count(o) != 0; });
}

std::vector<std::string> output_names(const wire::graph& g) {
  std::vector<std::string> names;
  for (const wire::value_info& v : g.outputs) names.push_back(v.name);
  return names;
}

}
