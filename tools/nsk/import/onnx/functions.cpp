// SPDX-License-Identifier: MIT
#include "import/onnx/functions.hpp"

#include <map>
#include <tuple>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr int max_call_depth = 32;
constexpr std::size_t max_bytes = std::size_t{64} << 20;  // of copies, about

using names = std::map<std::string, std::string>;
using attribute_values = std::map<std::string, wire::attribute>;

/// Gives attributes that refer to the enclosing function's attribute their value, and drops those without one.
void substitute(std::vector<wire::attribute>& attributes, const attribute_values& values) {
  std::vector<wire::attribute> kept;
  for (wire::attribute& a : attributes) {
    if (a.reference.empty()) {
      kept.push_back(std::move(a));
      continue;
    }
    const auto found = values.find(a.reference);
    if (found == values.end()) continue;
    wire::attribute value = found->second;
    value.name = a.name;
    kept.push_back(std::move(value));
  }
  attributes = std::move(kept);
}

/// Renames values of a function's body; names that are not mapped yet belong to the body and get the prefix.
struct renamer {
  names map;
  std::string prefix;

  std::string operator()(const std::string& name) {
    if (name.empty()) return name;
    const auto [at, is_new] = map.emplace(name, std::string());
    if (is_new) at->second = prefix + name;
    return at->second;
  }
  void apply(wire::node& n, const attribute_values& values) {
    for (std::string& name : n.inputs) name = (*this)(name);
    for (std::string& name : n.outputs) name = (*this)(name);
    if (!n.name.empty()) n.name = prefix + n.name;
    substitute(n.attributes, values);
    for (wire::attribute& a : n.attributes) {
      if (!a.g) continue;
      a.g = std::make_shared<wire::graph>(*a.g);  // bodies are shared between calls
      apply(*a.g, values);
    }
  }
  void apply(wire::graph& g, const attribute_values& values) {
    for (wire::value_info& v : g.inputs) v.name = (*this)(v.name);
    for (wire::value_info& v : g.outputs) v.name = (*this)(v.name);
    for (wire::tensor& t : g.initializers) t.name = (*this)(t.name);
    for (wire::node& n : g.nodes) apply(n, values);
  }
};

// About how many bytes a copy takes.
std::size_t bytes_of(const wire::graph& g);

std::size_t bytes_of(const std::vector<std::string>& list) {
  std::size_t sum = 0;
  for (const std::string& s : list) sum += sizeof s + s.size();
  return sum;
}

std::size_t bytes_of(const wire::attribute& a) {
  return sizeof a + a.name.size() + a.reference.size() + (a.s ? a.s->size() : 0) + bytes_of(a.strings) +
         4 * a.floats.size() + 8 * a.ints.size() + (a.g ? bytes_of(*a.g) : 0);
}

std::size_t bytes_of(const wire::node& n) {
  std::size_t sum = sizeof n + n.name.size() + n.op.size() + bytes_of(n.inputs) + bytes_of(n.outputs);
  for (const wire::attribute& a : n.attributes) sum += bytes_of(a);
  return sum;
}

std::size_t bytes_of(const wire::graph& g) {
  std::size_t sum = sizeof g + bytes_of(g.sparse_initializers);
  for (const wire::node& n : g.nodes) sum += bytes_of(n);
  for (const wire::tensor& t : g.initializers)
    sum += sizeof t + t.name.size() + 8 * (t.dims.size() + t.doubles.size() + t.integers.size()) + 4 * t.floats.size();
  for (const auto* list : {&g.inputs, &g.outputs})
    for (const wire::value_info& v : *list)
      sum += sizeof v + v.name.size() + sizeof(wire::value_info::dimension) * v.shape.size();
  return sum;
}

class inliner {
 public:
  explicit inliner(const wire::model& m) {
    for (const wire::function& f : m.functions) m_functions[{f.domain, f.name, f.overload}] = &f;
  }

  void expand(wire::graph& g) { g.nodes = expand(std::move(g.nodes), 0); }

 private:
  const wire::function* find(const wire::node& n) const {
    const std::string domain = n.domain == "ai.onnx" ? std::string() : n.domain;
    const auto found = m_functions.find({domain, n.op, n.overload});
    return found == m_functions.end() ? nullptr : found->second;
  }

  std::vector<wire::node> expand(std::vector<wire::node> nodes, int depth) {
    std::vector<wire::node> result;
    for (wire::node& n : nodes) {
      for (wire::attribute& a : n.attributes)
        if (a.g) a.g->nodes = expand(std::move(a.g->nodes), depth);
      const wire::function* f = find(n);
      if (f == nullptr) {
        result.push_back(std::move(n));
        continue;
      }
      if (depth == max_call_depth)
        refuse("function '" + f->name + "' calls itself, or functions nest deeper than " +
               std::to_string(max_call_depth) + ". Export the model with its functions inlined");
      for (wire::node& inner : expand(body(*f, n), depth + 1)) result.push_back(std::move(inner));
    }
    return result;
  }

  std::vector<wire::node> body(const wire::function& f, const wire::node& call) {
    if (call.inputs.size() > f.inputs.size() || call.outputs.size() > f.outputs.size())
      refuse("node '" + call.name + "' calls the function '" + f.name + "' with more inputs or outputs than it has");
    renamer rename;
    rename.prefix = (call.name.empty() ? f.name : call.name) + "_" + std::to_string(m_calls++) + "/";
    for (std::size_t i = 0; i < f.inputs.size(); ++i)
      rename.map[f.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : std::string();
    std::vector<wire::node> result, forwards;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i].empty()) continue;
      const auto [at, is_new] = rename.map.emplace(f.outputs[i], call.outputs[i]);
      if (!is_new) forwards.push_back(identity(at->second, call.outputs[i]));  // an output that is an input too
    }
    attribute_values values;
    for (const wire::attribute& a : f.defaults) {
      charge(bytes_of(a), f);
      values[a.name] = a;
    }
    for (const wire::attribute& a : call.attributes) values[a.name] = a;
    for (wire::node n : f.nodes) {
      rename.apply(n, values);
      charge(bytes_of(n), f);
      const auto opset = f.opsets.find(n.domain == "ai.onnx" ? std::string() : n.domain);
      if (opset != f.opsets.end()) n.version = opset->second;
      result.push_back(std::move(n));
    }
    for (wire::node& n : forwards) result.push_back(std::move(n));
    return result;
  }

  void charge(std::size_t bytes, const wire::function& f) {
    m_bytes += bytes;
    if (m_bytes > max_bytes)
      refuse("function '" + f.name + "' and its like expand to more than " + std::to_string(max_bytes >> 20) +
             " MiB of nodes. Export the model with its functions inlined, or in parts");
  }

  static wire::node identity(const std::string& from, const std::string& to) {
    wire::node n;
    n.op = "Identity";
    n.inputs = {from};
    n.outputs = {to};
    return n;
  }

  std::map<std::tuple<std::string, std::string, std::string>, const wire::function*> m_functions;
  std::size_t m_bytes = 0, m_calls = 0;
};

}

void inline_functions(wire::model& m) {
  if (m.functions.empty() || !m.main) return;
  inliner(m).expand(*m.main);
}

}
