// SPDX-License-Identifier: MIT
#include "import/onnx/import.hpp"

#include <protozero/exception.hpp>

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

#include "io/files.hpp"
#include "errors.hpp"
#include "graph/onnx_type.hpp"
#include "graph/names.hpp"
#include "graph/recurrent.hpp"
#include "import/onnx/functions.hpp"
#include "import/onnx/needed_names.hpp"
#include "import/onnx/tensor.hpp"
#include "io/looks_like.hpp"
#include "io/system/paths.hpp"

namespace nsk::tool {
namespace {

constexpr int max_nesting = 32;
constexpr std::int64_t first_ir_with_opsets = 3;  // files before it mean opset 1 (onnx.proto)

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

/// Operators and attributes that the converter uses for itself begin so.
bool is_reserved(const std::string& name) { return name.rfind("nsk_", 0) == 0; }

/// Returns the order in which nodes can run: the file's own where that works, else the nearest one.
std::vector<std::size_t> topological_order(const wire::graph& g) {
  std::unordered_map<std::string, std::size_t> producer;
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    for (const std::string& name : g.nodes[i].outputs)
      if (!name.empty()) producer.emplace(name, i);
  std::vector<std::vector<std::size_t>> consumers(g.nodes.size());
  std::vector<std::size_t> waiting(g.nodes.size(), 0);
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    std::set<std::string> names(g.nodes[i].inputs.begin(), g.nodes[i].inputs.end());
    for (const wire::attribute& a : g.nodes[i].attributes)
      if (a.g) collect_free_names(*a.g, names);
    for (const std::string& name : names) {
      const auto found = producer.find(name);
      if (found == producer.end()) continue;
      consumers[found->second].push_back(i);
      ++waiting[i];
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (std::size_t c : consumers[i])
      if (--waiting[c] == 0) ready.push(c);
  }
  if (order.size() != g.nodes.size()) {
    const auto stuck = static_cast<std::size_t>(
        std::find_if(waiting.begin(), waiting.end(), [](std::size_t w) { return w != 0; }) - waiting.begin());
    const wire::node& n = g.nodes[stuck];
    refuse("the graph has a cycle: node '" + n.name + "' (" + n.op + ") needs, directly or not, a value of its own" +
           (n.outputs.empty() ? "" : " ('" + n.outputs[0] + "')"));
  }
  return order;
}

/// What the metadata says of the model's licence and author, under the names that TensorFlow Lite has for them.
std::map<std::string, std::string> about_of(const wire::model& m) {
  static const std::map<std::string, std::string> names = {
      {"license", "license"}, {"licence", "license"}, {"model_license", "license"}, {"model_licence", "license"},
      {"author", "author"},   {"authors", "author"},  {"model_author", "author"}};
  constexpr std::size_t longest = 4096;
  std::map<std::string, std::string> about;
  for (const auto& [key, text] : m.properties) {
    std::string name = key, line = text;
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (char& c : line)
      if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    const auto found = names.find(name);
    if (found != names.end() && !line.empty() && line.size() <= longest && is_plain_text(line))
      about.emplace(found->second, line);
  }
  return about;
}

/// Turns wire structs into graphs; one scope per graph.
class importer {
 public:
  importer(const wire::model& m, std::filesystem::path folder, bool own, const std::vector<std::string>& outputs)
      : m_model(m),
        m_folder(std::move(folder)),
        m_own(own),
        m_needed(*m.main, outputs),
        m_read(*m.main, output_names(*m.main)) {}

  graph run() {
    graph g = build(*m_model.main, nullptr, 0);
    g.producer = m_model.producer;
    g.facts.files = m_files;
    g.facts.about = about_of(m_model);
    return g;
  }

 private:
  struct scope {
    const scope* outer = nullptr;
    std::unordered_map<std::string, value_id> ids;
    bool knows(const std::string& name) const {
      return ids.count(name) != 0 || (outer != nullptr && outer->knows(name));
    }
  };

  graph build(const wire::graph& w, const scope* outer, int depth) {
    if (depth > max_nesting)
      refuse("the model nests graphs more than " + std::to_string(max_nesting) +
             " deep, functions included. Export it without control flow");
    graph g;
    require_name(w.name, "the name of the graph");
    g.name = w.name;
    m_depth = depth;
    scope s;
    s.outer = outer;
    for (const std::string& name : w.sparse_initializers)
      if (is_needed(name, s))
        refuse("initializer '" + name + "' is sparse, which is not supported. Save the model with dense weights");
    add_initializers(g, w, s);
    add_inputs(g, w, s);
    for (const wire::node& n : w.nodes) {
      if (!is_needed(n, s)) continue;
      require_name(n.name, "the name of node " + std::to_string(&n - w.nodes.data()));
      require_name(n.op, "the operator of node " + std::to_string(&n - w.nodes.data()));
      const std::string who = "node '" + n.name + "' (" + n.op + ")";
      for (const std::string& name : n.outputs)
        if (!name.empty()) define(g, s, name, who);
    }
    std::set<std::string> node_names;
    for (std::size_t i : topological_order(w))
      if (is_needed(w.nodes[i], s)) add_node(g, w.nodes[i], i, s, node_names);
    for (const wire::value_info& v : w.outputs) {
      if (!is_needed(v.name, s)) continue;
      if (v.name.empty()) refuse("an output of graph '" + w.name + "' has no name");
      if (s.outer == nullptr && !s.knows(v.name))
        g.missing_outputs.push_back(v.name);
      else
        g.outputs.push_back(lookup(g, s, v.name, "the list of outputs"));
      if (!v.has_shape) continue;
      shape_t& declared = g.declared[v.name];
      for (const wire::value_info::dimension& d : v.shape) declared.push_back(std::max<std::int64_t>(d.size, -1));
    }
    return g;
  }

  template <class T>
  bool is_needed(const T& what, const scope& s) const {
    return s.outer != nullptr || m_needed.has(what);
  }

  value_id define(graph& g, scope& s, const std::string& name, const std::string& who) {
    require_name(name, "the name of a value");
    const auto [at, is_new] = s.ids.emplace(name, static_cast<value_id>(g.values.size()));
    if (!is_new) refuse(who + " produces '" + name + "', which exists already. Names of values must be unique");
    value v;
    v.name = name;
    return at->second = g.add(std::move(v));
  }

  /// Id of a name that something reads; values of the graphs around become captures.
  value_id lookup(graph& g, scope& s, const std::string& name, const std::string& who) {
    const auto found = s.ids.find(name);
    if (found != s.ids.end()) return found->second;
    if (s.outer == nullptr || !s.outer->knows(name))
      refuse(who + " reads '" + name + "', which nothing produces. The file is damaged or was cut by hand");
    const value_id id = define(g, s, name, who);
    g.captures.push_back(id);
    return id;
  }

  void add_initializers(graph& g, const wire::graph& w, scope& s) {
    for (const wire::tensor& t : w.initializers) {
      if (!is_needed(t.name, s)) {
        m_left_out.insert(t.name);
        continue;
      }
      const std::string what = "initializer '" + t.name + "'";
      if (t.name.empty()) refuse("an initializer has no name");
      require_name(t.name, "the name of an initializer");
      const value_id id = define(g, s, t.name, what);
      if (holds_text(t))
        set_text(g, id, t.dims, t.texts);
      else
        g.values[static_cast<std::size_t>(id)].hold(decode_tensor(t, {m_folder, what, &m_files}));
      if (is_narrow(t.type)) m_narrow.insert(t.name);
    }
  }

  /// A constant of strings becomes a node Constant, which resolve() makes integers of. Without the node, where they are
  /// not as many as the shape says, resolve() refuses it where an output needs it.
  static void set_text(graph& g, value_id id, const shape_t& shape, const std::vector<std::string>& texts) {
    if (id == no_value) return;
    value& v = g.values[static_cast<std::size_t>(id)];
    v.type = element::string;
    v.typed = true;
    if (checked_count(shape, "'" + v.name + "'") != static_cast<std::int64_t>(texts.size())) return;
    node n;
    n.op = "Constant";
    n.name = v.name + "/texts";
    n.outputs = {id};
    n.attributes = {{text_attribute, texts}, {text_shape_attribute, shape}};
    g.nodes.push_back(std::move(n));
  }

  /// set_text() for a node Constant whose attribute holds strings. Returns whether it does.
  static bool set_text(graph& g, const node& n, const wire::attribute& a) {
    const bool tensor = a.t && holds_text(*a.t), one = a.name == "value_string" && a.s,
               list = a.name == "value_strings" && !a.strings.empty();
    if (n.op != "Constant" || n.outputs.size() != 1 || !(tensor || one || list)) return false;
    if (tensor)
      set_text(g, n.outputs[0], a.t->dims, a.t->texts);
    else if (one)
      set_text(g, n.outputs[0], {}, {*a.s});
    else
      set_text(g, n.outputs[0], {static_cast<std::int64_t>(a.strings.size())}, a.strings);
    return true;
  }

  void add_inputs(graph& g, const wire::graph& w, scope& s) {
    for (const wire::value_info& info : w.inputs) {
      if (info.name.empty()) refuse("an input of graph '" + w.name + "' has no name");
      const auto found = s.ids.find(info.name);
      if (found != s.ids.end() && g.values[static_cast<std::size_t>(found->second)].constant)
        continue;  // an initializer's default
      const std::optional<element> type = info.is_tensor ? element_of_onnx(info.type) : std::nullopt;
      // Narrow integers become int8 and uint8, which would change what operators do with them at run time.
      const bool fits = type && *type != element::string && !is_narrow(info.type);
      if (!is_needed(info.name, s) && (!fits || m_left_out.count(info.name) != 0)) continue;
      const value_id id = define(g, s, info.name, "the list of inputs");
      value& v = g.values[static_cast<std::size_t>(id)];
      v.typed = type.has_value();
      if (type) v.type = *type;
      if (s.outer == nullptr && !fits && !m_read.has(info.name)) {
        g.facts.notes.push_back("input '" + info.name + "' is left out: no output needs it");
        continue;
      }
      g.inputs.push_back(id);
      if (s.outer == nullptr && !fits)
        refuse("input '" + info.name + "' " +
               (info.is_tensor ? "has elements of type " + onnx_type_name(info.type)
                               : "is not a tensor (a sequence, map or optional)") +
               ", which is not supported. Export the model with float32 tensors");
      v.known_rank = info.has_shape;
      if (info.shape.size() > max_axes)
        refuse("input '" + info.name + "' has " + std::to_string(info.shape.size()) + " dimensions, more than " +
               std::to_string(max_axes));
      for (const wire::value_info::dimension& d : info.shape) {
        v.shape.push_back(std::max<std::int64_t>(d.size, -1));
        require_name(d.symbol, "the name of a dimension of input '" + info.name + "'");
        v.symbols.push_back(d.symbol);
      }
    }
  }

  void add_node(graph& g, const wire::node& w, std::size_t index, scope& s, std::set<std::string>& node_names) {
    const std::string number = "node " + std::to_string(index);
    require_name(w.domain, "the domain of " + number);
    if (is_reserved(w.op)) refuse(number + ": the operator '" + w.op + "' is the converter's own. Rename it");
    node n;
    n.op = w.op;
    n.domain = normal_domain(w.domain);
    n.name = w.name.empty() ? w.op + "_" + std::to_string(index) : w.name;
    const std::string given = n.name;
    while (!node_names.insert(n.name).second) n.name += "_" + std::to_string(index);
    if (n.name != given) g.facts.twins.emplace(n.name, given);
    n.version = version_of(w, n.domain);
    const std::string who = "node '" + n.name + "' (" + n.op + ")";
    if (n.op.empty()) refuse("node '" + n.name + "' has no operator. The file is damaged");
    require_wide(w, who);
    for (const std::string& name : w.inputs) n.inputs.push_back(name.empty() ? no_value : lookup(g, s, name, who));
    for (const std::string& name : w.outputs) n.outputs.push_back(name.empty() ? no_value : s.ids.at(name));
    for (const wire::attribute& a : w.attributes) {
      if (set_text(g, n, a)) return;
      if (!n.attributes.emplace(a.name, convert(a, g, s, who)).second)
        refuse(who + ": attribute '" + a.name + "' is given twice");
    }
    g.nodes.push_back(std::move(n));
  }

  /// Narrow integers become 8-bit ones, which other operators would take for their range; small floats become float32,
  /// to which they would not round.
  void require_wide(const wire::node& w, const std::string& who) {
    for (const wire::attribute& a : w.attributes)
      if (w.op == "Constant" && a.t && is_narrow(a.t->type)) m_narrow.insert(w.outputs.begin(), w.outputs.end());
    if (w.op == "Identity" && !w.inputs.empty() && m_narrow.count(w.inputs[0]) != 0)
      m_narrow.insert(w.outputs.begin(), w.outputs.end());
    if (w.op == "DequantizeLinear" || w.op == "Cast" || w.op == "Identity") return;
    const std::size_t first = w.op == "CastLike" ? 1 : 0;  // what it converts may be narrow, what it becomes may not
    for (std::size_t i = first; i < w.inputs.size(); ++i)
      if (m_narrow.count(w.inputs[i]) != 0)
        refuse(who + " reads '" + w.inputs[i] +
               "', which holds integers of 4 or 2 bits or floats of 8 or 4; DequantizeLinear and Cast alone may. "
               "Export the model in float32");
  }

  int version_of(const wire::node& w, const std::string& domain) const {
    if (w.version > 0) return static_cast<int>(std::min<std::int64_t>(w.version, 1 << 20));
    const auto found = m_model.opsets.find(domain);
    return found == m_model.opsets.end() ? 0 : static_cast<int>(std::clamp<std::int64_t>(found->second, 0, 1 << 20));
  }

  attribute convert(const wire::attribute& a, graph& g, scope& s, const std::string& who) {
    require_name(a.name, who + ": the name of an attribute");
    const std::string what = who + ": attribute '" + a.name + "'";
    if (is_reserved(a.name) && !(m_own && a.name == cell_clip_attribute))
      refuse(what + " is the converter's own. Rename it");
    if (!a.reference.empty()) refuse(what + " refers to a function's attribute outside a function");
    switch (type_of(a)) {
      case wire::float_type:
        if (a.f) return *a.f;
        break;
      case wire::int_type: return a.i.value_or(0);
      case wire::string_type: return a.s.value_or(std::string());
      case wire::tensor_type:
        if (a.t && holds_text(*a.t)) return a.t->texts;
        if (a.t) return decode_tensor(*a.t, {m_folder, what, &m_files});
        break;
      case wire::graph_type:
        if (a.g) return subgraph(*a.g, g, s, who);
        break;
      case wire::floats_type: return a.floats;
      case wire::ints_type: return a.ints;
      case wire::strings_type: return a.strings;
      default: break;
    }
    refuse(what +
           " has a type that is not supported (sparse tensor, type, or a list of tensors or graphs), or no value");
  }

  /// Old files do not say an attribute's type: it is the one that has a value. Without one it is an empty list, taken
  /// as integers.
  static std::int32_t type_of(const wire::attribute& a) {
    if (a.type != wire::no_type) return a.type;
    return a.f                  ? wire::float_type
           : a.i                ? wire::int_type
           : a.s                ? wire::string_type
           : a.t                ? wire::tensor_type
           : a.g                ? wire::graph_type
           : !a.floats.empty()  ? wire::floats_type
           : !a.ints.empty()    ? wire::ints_type
           : !a.strings.empty() ? wire::strings_type
           : a.has_other        ? wire::no_type
                                : wire::ints_type;
  }

  std::shared_ptr<graph> subgraph(const wire::graph& w, graph& g, scope& s, const std::string& who) {
    const int outside = m_depth;
    auto result = std::make_shared<graph>(build(w, &s, outside + 1));
    m_depth = outside;
    for (value_id id : result->captures) lookup(g, s, result->values[static_cast<std::size_t>(id)].name, who);
    return result;
  }

  const wire::model& m_model;
  std::filesystem::path m_folder;
  bool m_own;                        ///< attributes of the converter's own are allowed
  needed_names m_needed;             ///< of the main graph
  needed_names m_read;               ///< by some output of it
  std::set<std::string> m_left_out;  ///< initializers that are not needed
  std::set<std::string> m_files;     ///< with external data
  std::set<std::string> m_narrow;    ///< constants of narrow types
  int m_depth = 0;                   ///< graphs around the one that is being built
};

/// Gives a model without the domain ai.onnx the opset that its file means by it, and refuses unknown ones.
void settle_opset(wire::model& m, const std::string& name) {
  if (m.opsets.empty() && m.ir_version >= first_ir_with_opsets)
    refuse(name +
           ": the model names no opset, so its operators may have several meanings. Say which it was made for, 13 for "
           "example: python -c \"import onnx; m = onnx.load('model.onnx'); "
           "m.opset_import.append(onnx.helper.make_opsetid('', 13)); onnx.save(m, 'model.onnx')\"");
  // Runtimes give a model of other domains alone their newest opset.
  const auto [found, is_new] = m.opsets.emplace("", m.opsets.empty() ? oldest_onnx_opset : newest_onnx_opset);
  if (is_new) return;
  const std::string opset = std::to_string(found->second);
  if (found->second < oldest_onnx_opset)
    refuse(name + ": opset " + opset + " is older than the oldest supported (" + std::to_string(oldest_onnx_opset) +
           "). Convert the model with onnx.version_converter");
  if (found->second > newest_onnx_opset)
    refuse(name + ": opset " + opset + " is newer than the newest supported (" + std::to_string(newest_onnx_opset) +
           "). Export the model with an older opset");
}

}

graph import_onnx(const std::byte* bytes, std::size_t size, const std::filesystem::path& folder,
                  const std::string& name, const std::vector<std::string>& outputs) {
  const auto no_model = [&](const std::string& why) {
    refuse(name + ": not an ONNX model, or a damaged one: " + why + "; " + looks_like(bytes, size));
  };
  wire::model m;
  try {
    m = wire::read_model({reinterpret_cast<const char*>(bytes), size});
  } catch (const protozero::exception& e) {
    no_model(std::string("its protobuf encoding is broken or truncated (") + e.what() + ")");
  }
  if (!m.main) no_model("it holds no graph");
  if (m.main->nodes.empty() && m.main->outputs.empty()) no_model("its graph is empty");
  return import_onnx(std::move(m), folder, name, false, outputs);
}

graph import_onnx(wire::model m, const std::filesystem::path& folder, const std::string& name, bool own,
                  const std::vector<std::string>& outputs) {
  settle_opset(m, name);
  inline_functions(m);
  return importer(m, folder, own, outputs).run();
}

graph import_onnx(const std::string& file) {
  const std::vector<std::byte> bytes = read_file(file, "model", max_model_bytes);
  return import_onnx(bytes.data(), bytes.size(), path_of(file).parent_path(), file);
}

}
