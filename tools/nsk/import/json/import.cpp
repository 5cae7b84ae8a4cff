// SPDX-License-Identifier: MIT
#include "import/json/import.hpp"

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "graph/names.hpp"
#include "graph/onnx_type.hpp"
#include "import/json/constants.hpp"
#include "import/json/fields.hpp"
#include "import/onnx/import.hpp"
#include "import/onnx/wire.hpp"
#include "io/json_file.hpp"
#include "io/system/paths.hpp"

namespace nsk::tool {
namespace {

constexpr char otherwise[] = "it was not written by nsk json.";

/// Makes ONNX's messages of the JSON; the importer of ONNX models then holds them to its rules.
class reader {
 public:
  explicit reader(const std::string& file) : m_file(file), m_constants(path_of(file).parent_path()) {}

  graph read(const graph_json& json);

 private:
  std::string place(const std::string& what) const { return m_file + ": " + what; }
  wire::graph graph_of(const fields& f, int depth);
  wire::node node_of(const graph_json& json, std::size_t index, int depth);
  wire::attribute attribute_of(const std::string& name, const graph_json& json, const std::string& who, int depth);
  void set_list(wire::attribute& a, const graph_json& json, const std::string& who);
  void set_typed(wire::attribute& a, const graph_json& json, const std::string& who, int depth);
  wire::value_info port_of(const graph_json& json, const char* kind);
  port_facts facts_of(const fields& f);
  void read_states(const fields& f, graph& g);
  void read_about(const fields& f, graph& g);

  std::string m_file;
  constant_reader m_constants;
  std::map<std::string, port_facts> m_ports;
  std::map<std::string, std::shared_ptr<const stored_constant>> m_stored;  ///< constants in another order
  wire::opset_map m_opsets;
};

/// Keys of a graph, and of the file's first one.
const std::vector<std::string> graph_keys = {"name", "inputs", "outputs", "constants", "nodes"};
std::vector<std::string> file_keys() {
  std::vector<std::string> keys = {graph_json_key, "producer", "about", "opsets", "states"};
  keys.insert(keys.end(), graph_keys.begin(), graph_keys.end());
  return keys;
}

std::int64_t opset_of(const graph_json& json, const std::string& domain, const std::string& what) {
  const std::int64_t version = integer_of(json, what);
  const bool is_known = !domain.empty() || (version >= oldest_onnx_opset && version <= newest_onnx_opset);
  if (version < 1 || version > 1 << 20 || !is_known)
    refuse(what + " is " + std::to_string(version) + "; versions of ai.onnx from " + std::to_string(oldest_onnx_opset) +
           " to " + std::to_string(newest_onnx_opset) + " are known");
  return version;
}

std::string domain_of(const std::string& name) { return name == default_domain ? std::string() : name; }

port_facts reader::facts_of(const fields& f) {
  port_facts facts;
  facts.description = f.text("description", "");
  facts.color = f.text("color", "");
  facts.mean = f.numbers("mean");
  facts.deviation = f.numbers("deviation");
  facts.labels = f.texts("labels");
  const auto is_finite = [](float x) { return std::isfinite(x); };
  const bool scales =
      std::all_of(facts.deviation.begin(), facts.deviation.end(), [](float x) { return std::isfinite(x) && x != 0; });
  if (facts.mean.size() != facts.deviation.size() || !scales ||
      !std::all_of(facts.mean.begin(), facts.mean.end(), is_finite))
    f.fail("needs as many finite numbers as 'mean' as it has as 'deviation', none of these 0");
  if (!facts.color.empty() && facts.color != "rgb" && facts.color != "grey")
    f.fail("has the color '" + facts.color + "'; \"rgb\" and \"grey\" are known");
  for (const std::string& text : facts.labels) require_name(text, f.where() + ": a label");
  require_name(facts.description, f.where() + ": its description");
  return facts;
}

wire::value_info reader::port_of(const graph_json& json, const char* kind) {
  fields f(json, place(kind), {"name", "type", "shape", "description", "color", "mean", "deviation", "labels"});
  wire::value_info v;
  v.name = f.text("name");
  require_name(v.name, place(std::string("the name of an ") + kind));
  f.call(place(kind + (" '" + v.name + "'")));
  if (f.find("type") != nullptr) {
    const std::optional<element> type = element_named(f.text("type"));
    if (!type) f.fail("has elements of type '" + f.text("type") + "'; write NumPy's names, such as float32 or int64");
    v.is_tensor = true;
    v.type = static_cast<std::int32_t>(onnx_type_of(*type));
  }
  v.has_shape = f.find("shape") != nullptr;
  for (const graph_json* d : f.list("shape")) {
    wire::value_info::dimension length;
    if (d->is_string())
      length.symbol = d->get<std::string>();
    else
      length.size = integer_of(*d, f.where() + ": a length of its shape");
    if (length.size < -1) f.fail("has a negative length; write -1 or a name for a length that is open");
    v.shape.push_back(length);
  }
  const port_facts facts = facts_of(f);
  if (f.find("description") || f.find("color") || f.find("mean") || f.find("labels")) m_ports[v.name] = facts;
  return v;
}

/// Attributes of several elements: of texts, of integers, or else of real numbers.
void reader::set_list(wire::attribute& a, const graph_json& json, const std::string& who) {
  const auto all = [&](auto is) { return std::all_of(json.begin(), json.end(), is); };
  if (all([](const graph_json& e) { return e.is_number_integer(); })) {
    a.type = wire::ints_type;
    for (const graph_json& e : json) a.ints.push_back(integer_of(e, who));
  } else if (all([](const graph_json& e) { return e.is_string(); })) {
    a.type = wire::strings_type;
    for (const graph_json& e : json) a.strings.push_back(e.get<std::string>());
  } else if (all([](const graph_json& e) { return e.is_number_float(); })) {
    a.type = wire::floats_type;
    for (const graph_json& e : json) a.floats.push_back(e.get<float>());
  } else {
    refuse(who + " must be integers, real numbers (1.0) or texts, all of one kind");
  }
}

/// {"tensor": ...}, {"graph": ...}, and what cannot be told from its elements: {"float": "inf"}, {"floats": []}.
void reader::set_typed(wire::attribute& a, const graph_json& json, const std::string& who, int depth) {
  const fields f(json, who, {"tensor", "graph", "float", "floats", "strings"});
  if (json.size() != 1) f.fail("must have exactly one of the keys 'tensor', 'graph', 'float', 'floats' and 'strings'");
  if (const graph_json* t = f.find("tensor"))
    a.t = std::make_shared<wire::tensor>(m_constants.read(fields(*t, who + ": its tensor", constant_keys)));
  else if (const graph_json* g = f.find("graph"))
    a.g = std::make_shared<wire::graph>(graph_of(fields(*g, who + ": its graph", graph_keys), depth + 1));
  else if (const graph_json* x = f.find("float"))
    a.f = number_of(*x, who);
  else if (f.find("floats") != nullptr)
    a.type = wire::floats_type, a.floats = f.numbers("floats");
  else
    a.type = wire::strings_type, a.strings = f.texts("strings");
}

wire::attribute reader::attribute_of(const std::string& name, const graph_json& json, const std::string& who,
                                     int depth) {
  const std::string what = who + ": attribute '" + name + "'";
  wire::attribute a;
  a.name = name;
  if (json.is_number_integer())
    a.i = integer_of(json, what);
  else if (json.is_number())
    a.f = json.get<float>();
  else if (json.is_string())
    a.s = json.get<std::string>();
  else if (json.is_array())
    set_list(a, json, what);
  else
    set_typed(a, json, what, depth);
  return a;
}

wire::node reader::node_of(const graph_json& json, std::size_t index, int depth) {
  fields f(json, place("node " + std::to_string(index)),
           {"name", "op", "domain", "opset", "inputs", "outputs", "attributes"});
  wire::node n;
  n.name = f.text("name", "");
  n.op = f.text("op");
  require_name(n.name, f.where() + ": its name");
  require_name(n.op, f.where() + ": its operator");
  f.call(place("node '" + n.name + "' (" + n.op + ")"));
  n.domain = domain_of(f.text("domain", ""));
  n.inputs = f.texts("inputs");
  n.outputs = f.texts("outputs");
  const std::string what = f.where() + ": 'opset'";
  if (const graph_json* version = f.find("opset")) n.version = opset_of(*version, n.domain, what);
  if (n.version == 0 && n.domain.empty() && m_opsets.count("") == 0)
    f.fail("has no 'opset', and the file's 'opsets' names none for ai.onnx");
  const graph_json* attributes = f.find("attributes");
  if (attributes == nullptr) return n;
  if (!attributes->is_object()) f.fail("must have an object as 'attributes'");
  for (const auto& [name, value] : attributes->items())
    n.attributes.push_back(attribute_of(name, value, f.where(), depth));
  return n;
}

wire::graph reader::graph_of(const fields& f, int depth) {
  if (depth > max_graph_json_depth) f.fail("nests graphs more than " + std::to_string(max_graph_json_depth) + " deep");
  wire::graph g;
  g.name = f.text("name", "");
  for (const graph_json* j : f.list("inputs")) g.inputs.push_back(port_of(*j, "input"));
  for (const graph_json* j : f.list("outputs")) g.outputs.push_back(port_of(*j, "output"));
  for (const graph_json* j : f.list("constants")) {
    fields c(*j, place("a constant"), constant_keys);
    const std::string name = c.text("name");
    require_name(name, place("the name of a constant"));
    c.call(place("constant '" + name + "'"));
    g.initializers.push_back(m_constants.read(c));
    g.initializers.back().name = name;
    if (c.find("permute") != nullptr) m_stored[name] = m_constants.stored(c);
  }
  const std::vector<const graph_json*> nodes = f.list("nodes");
  for (std::size_t i = 0; i < nodes.size(); ++i) g.nodes.push_back(node_of(*nodes[i], i, depth));
  return g;
}

void reader::read_states(const fields& f, graph& g) {
  const auto port = [&](const std::vector<value_id>& ports, const std::string& name) -> const value* {
    for (const value_id v : ports)
      if (g.values[static_cast<std::size_t>(v)].name == name) return &g.values[static_cast<std::size_t>(v)];
    return nullptr;
  };
  for (const graph_json* j : f.list("states")) {
    fields s(*j, place("a state"), {"input", "output", "initial"});
    state_link link{s.text("input"), s.text("output")};
    require_name(link.input, place("the input of a state"));
    s.call(place("state '" + link.input + "'"));
    const value* before = port(g.inputs, link.input);
    if (before == nullptr || port(g.outputs, link.output) == nullptr)
      s.fail("links '" + link.input + "' and '" + link.output + "', which are no input and output of the graph");
    if (const graph_json* initial = s.find("initial")) {
      const array& a = m_constants.read_array(fields(*initial, s.where() + ": its initial value", constant_keys));
      if (a.type != before->type || a.shape != before->shape)
        s.fail("begins with " + std::string(name_of(a.type)) + " " + to_string(a.shape) + ", but its input is " +
               name_of(before->type) + " " + to_string(before->shape));
      link.initial = std::make_shared<const array>(a);
    }
    g.states.push_back(std::move(link));
  }
}

void reader::read_about(const fields& f, graph& g) {
  const graph_json* about = f.find("about");
  if (about == nullptr) return;
  if (!about->is_object()) f.fail("must have an object as 'about'");
  for (const auto& [key, value] : about->items()) {
    const std::string text = text_of(value, place("'about': '" + key + "'"));
    require_name(key, place("a key of 'about'"));
    require_name(text, place("'about': '" + key + "'"));
    g.facts.about[key] = text;
  }
}

graph reader::read(const graph_json& json) {
  const fields f(json, place("the graph"), file_keys());
  wire::model m;
  m.producer = f.text("producer", "");
  if (const graph_json* opsets = f.find("opsets")) {
    if (!opsets->is_object()) f.fail("must have an object as 'opsets'");
    for (const auto& [name, version] : opsets->items())
      m.opsets[domain_of(name)] = opset_of(version, domain_of(name), place("the opset of '" + name + "'"));
  }
  m_opsets = m.opsets;
  m.main = graph_of(f, 0);
  if (m.main->outputs.empty()) f.fail("has no outputs");
  m.opsets.try_emplace("", newest_onnx_opset);  // where every node says its own
  graph g = import_onnx(m, path_of(m_file).parent_path(), m_file, true);
  for (value& v : g.values)
    if (const auto found = m_stored.find(v.name); found != m_stored.end() && v.constant) v.stored = found->second;
  g.facts.files = m_constants.files();
  g.facts.ports = m_ports;
  read_about(f, g);
  read_states(f, g);
  return g;
}

}

bool is_json(const std::byte* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

graph import_json(const std::byte* bytes, std::size_t size, const std::string& name) {
  const graph_json json =
      parse_json<graph_json>({reinterpret_cast<const char*>(bytes), size}, name, table_limits, otherwise);
  if (json.is_object() && json.count("netsuke_format") != 0)
    refuse("'" + name + "' describes a converted model; nsk from-json makes a .nsk file of it");
  const auto version = json.is_object() ? json.find(graph_json_key) : json.end();
  if (version == json.end())
    refuse("'" + name + "' is no graph: it lacks '" + graph_json_key +
           "'. nsk json makes one of an ONNX or TensorFlow "
           "Lite model");
  if (!version->is_number_integer() || *version != graph_json_version)
    refuse("'" + name + "': '" + graph_json_key + "' must be " + std::to_string(graph_json_version) +
           ", the version that this tool reads");
  return reader(name).read(json);
}

}
