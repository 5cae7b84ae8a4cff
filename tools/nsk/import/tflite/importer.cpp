// SPDX-License-Identifier: MIT
#include "import/tflite/importer.hpp"

#include <algorithm>
#include <limits>

#include "import/tflite/constants.hpp"
#include "import/tflite/metadata.hpp"

namespace nsk::tool {
namespace {

constexpr int onnx_opset = 22;  // whose meaning the emitted nodes have
constexpr double infinity = std::numeric_limits<double>::infinity();

shape_t in_order(const shape_t& shape, const std::vector<std::int64_t>& order) {
  shape_t result;
  for (const std::int64_t a : order) result.push_back(shape[static_cast<std::size_t>(a)]);
  return result;
}

}

tflite_importer::tflite_importer(const tflite_file& file, const tflite_options& options)
    : m_file(file),
      m_options(options),
      m_folder(m_graph, static_cast<std::int64_t>(file.size)),
      m_scope(0, file.main(), "") {
  for (const tflite_tensor& t : file.main().tensors) m_value_names.take(t.name);
}

tflite_importer::scope::scope(int n, const tflite_subgraph& g, std::string names)
    : number(n), source(&g), prefix(std::move(names)), forms_of(g.tensors.size()) {
  for (const tflite_tensor& t : g.tensors) shapes.push_back(t.shape);
}

graph tflite_importer::run() {
  m_graph.name = m_file.name;
  m_graph.producer = m_file.producer;
  check_quantization();
  for (const int t : m_file.main().inputs) {
    value v;
    v.name = tensor(t).name;
    v.type = type_of(t);
    v.shape = input_shape(t);
    v.typed = v.known_rank = true;
    const value_id id = m_graph.add(std::move(v));
    m_graph.inputs.push_back(id);
    m_scope.forms_of[static_cast<std::size_t>(t)].plain = id;
    m_bound.insert(id);
  }
  for (const tflite_operator& o : m_file.main().operators) translate(o);
  m_op = nullptr;
  for (const int t : m_file.main().outputs) m_graph.outputs.push_back(plain(t));
  finish_memories();
  note_open_rows();
  const std::string open = open_inputs();
  if (!open.empty())
    m_graph.facts.warnings.push_back("the file leaves lengths of its inputs open and has 1 in their place; add" + open +
                                     " with the lengths that you need");
  return std::move(m_graph);
}

namespace {

/// Lengths that the file fixes; -1 where it leaves them open.
shape_t fixed_lengths(const tflite_tensor& t) {
  const auto* signature = t.data->shape_signature();
  if (signature == nullptr || signature->size() != t.shape.size()) return t.shape;
  return {signature->begin(), signature->end()};
}

}

shape_t tflite_importer::input_shape(int t) {
  const auto wanted = m_options.shapes.find(tensor(t).name);
  if (wanted == m_options.shapes.end() || wanted->second == shape(t)) return shape(t);
  const shape_t fixed = fixed_lengths(tensor(t)), &lengths = wanted->second;
  bool agrees = fixed.size() == lengths.size();
  for (std::size_t d = 0; agrees && d < fixed.size(); ++d) agrees = fixed[d] < 0 || fixed[d] == lengths[d];
  if (!agrees)
    misuse("--input " + tensor(t).name + ": shape " + to_string(lengths) +
           " contradicts the model, whose input has shape " + to_string(fixed));
  checked_count(lengths, "--input " + tensor(t).name);
  m_resized = true;
  return m_scope.shapes[static_cast<std::size_t>(t)] = lengths;
}

bool tflite_importer::is_open(int t) const {
  const shape_t fixed = fixed_lengths(tensor(t));
  return m_resized || std::any_of(fixed.begin(), fixed.end(), [](std::int64_t d) { return d < 0; });
}

bool tflite_importer::fits(int t, const shape_t& found) const {
  const shape_t fixed = fixed_lengths(tensor(t));
  if (fixed.size() != found.size()) return false;
  for (std::size_t d = 0; !m_resized && d < fixed.size(); ++d)
    if (fixed[d] >= 0 && fixed[d] != found[d]) return false;
  return true;
}

std::string tflite_importer::open_inputs() const {
  std::string options;
  for (const int t : m_file.main().inputs) {
    const tflite_tensor& x = m_file.main().tensors[static_cast<std::size_t>(t)];
    const shape_t fixed = fixed_lengths(x);
    const bool open = std::any_of(fixed.begin() + !fixed.empty(), fixed.end(), [](std::int64_t d) { return d < 0; });
    if (!open || m_options.shapes.count(x.name) != 0) continue;
    options += " --input " + x.name + "=";
    for (std::size_t d = 0; d < x.shape.size(); ++d) options += (d == 0 ? "" : "x") + std::to_string(x.shape[d]);
  }
  return options;
}

/// Notes inputs whose first length the file leaves open, and no option gives.
void tflite_importer::note_open_rows() {
  for (const int t : m_file.main().inputs) {
    const tflite_tensor& x = m_file.main().tensors[static_cast<std::size_t>(t)];
    const shape_t fixed = fixed_lengths(x);
    if (fixed.empty() || fixed[0] >= 0 || m_options.shapes.count(x.name) != 0) continue;
    m_graph.facts.notes.push_back("input '" + x.name + "' has an open first length and is " + to_string(x.shape) +
                                  " here; --input gives another shape");
  }
}

/// Operators that may have effects alone.
bool tflite_importer::acts_without_results(const tflite_operator& o) {
  return o.name == "ASSIGN_VARIABLE" || o.name == "CALL_ONCE" || !subgraphs_of(o).empty();
}

void tflite_importer::translate(const tflite_operator& o) {
  m_op = &o;
  try {
    const auto& rules = o.custom ? custom_rules() : builtin_rules();
    const auto found = rules.find(o.name);
    if (found == rules.end())
      fail(std::string("this ") + (o.custom ? "custom " : "") +
           "operator is not supported. Replace it in the exporter by operators of docs/operators.md, or cut the graph "
           "before it and compute it in the game");
    require(!o.outputs.empty() || acts_without_results(o), "it has no outputs. The file is damaged");
    require_stored_alike();
    if (reads_complex(o) && found->second != &tflite_importer::part_of_complex && o.name != "CAST")
      each_part(found->second);
    else
      (this->*found->second)();
  } catch (const error& e) {
    const std::string open = m_op == &o ? open_inputs() : "";
    throw error(e.code, describe_operator() + ": " + e.what() +
                            (open.empty() ? ""
                                          : ". The file leaves lengths of its inputs open: try" + open +
                                                " with the lengths that you need"));
  }
}

std::string tflite_importer::describe_operator() const {
  std::string text = "operator " + std::to_string(m_op->index) + " (" + m_op->name;
  constexpr std::size_t most_named = 8;
  for (std::size_t i = 0; i < m_op->inputs.size(); ++i) {
    const int t = m_op->inputs[i];
    if (i == most_named) {
      text += ", and " + std::to_string(m_op->inputs.size() - i) + " more";
      break;
    }
    text += t < 0 ? ", input absent"
                  : ", input '" + tensor(t).name + "' " + to_string(shape(t)) + " " + name_of(tensor(t).data->type());
  }
  if (!m_op->outputs.empty()) text += ", output '" + tensor(output()).name + "' " + to_string(shape(output()));
  return text + ")";
}

void tflite_importer::check_quantization() const {
  if (m_options.dequantize) return;
  for (const auto& [number, g] : m_file.subgraphs) {
    const auto at = [&g = g](int t) -> const tflite_tensor& { return g.tensors[static_cast<std::size_t>(t)]; };
    for (const tflite_operator& o : g.operators) {
      const bool widens =
          o.name == "DEQUANTIZE" && o.inputs.size() == 1 && o.inputs[0] >= 0 && at(o.inputs[0]).bytes != nullptr;
      for (const auto* list : {&o.inputs, &o.outputs})
        for (const int t : *list) {
          if (widens || t < 0 || !is_quantized(at(t))) continue;
          refuse("operator " + std::to_string(o.index) + " (" + o.name + ") works on quantised numbers: tensor '" +
                 at(t).name + "' is " + name_of(at(t).data->type()) +
                 " with a scale. There are no kernels for these yet: --dequantize makes the model a float32 one");
        }
    }
  }
}

void tflite_importer::require_operands(std::size_t least, std::size_t most, std::size_t results) const {
  const std::size_t inputs = m_op->inputs.size();
  if (inputs < least || inputs > most)
    fail("it has " + std::to_string(inputs) + " inputs, expected " + std::to_string(least) +
         (most > least ? " to " + std::to_string(most) : ""));
  if (m_op->outputs.size() != results)
    fail("it has " + std::to_string(m_op->outputs.size()) + " outputs, expected " + std::to_string(results));
}

int tflite_importer::input(std::size_t i) const {
  if (!has(i)) fail("input " + std::to_string(i) + " is absent");
  return m_op->inputs[i];
}

std::vector<std::int64_t> tflite_importer::integers(int t, const char* what) {
  if (!is_constant(t))
    fail(std::string(what) + " ('" + tensor(t).name + "') is computed at run time; it must be a constant of the model");
  const array& a = *at(plain(t)).constant;
  if (!is_integer(a.type)) fail(std::string(what) + " ('" + tensor(t).name + "') holds no integers");
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < a.count(); ++i) result.push_back(std::clamp(a.integer(i), -far_away, far_away));
  return result;
}

double tflite_importer::number(int t, const char* what) {
  if (!is_constant(t) || at(plain(t)).constant->count() != 1)
    fail(std::string(what) + " ('" + tensor(t).name + "') must be one constant number");
  return at(plain(t)).constant->number(0);
}

std::size_t tflite_importer::axis_of(std::int64_t axis, std::size_t rank) const {
  const auto length = static_cast<std::int64_t>(rank);
  if (axis < -length || axis >= length)
    fail("axis " + std::to_string(axis) + " is outside a tensor of " + std::to_string(rank) + " dimensions");
  return static_cast<std::size_t>(axis < 0 ? axis + length : axis);
}

element tflite_importer::type_of(int t) const {
  if (is_quantized(tensor(t))) return element::f32;
  const tfl::TensorType type = tensor(t).data->type();
  if (type == tfl::TensorType::COMPLEX64 && m_in_part) return element::f32;
  const auto known = element_of_tflite(type);
  if (!known) refuse("tensor '" + tensor(t).name + "' is " + name_of(type) + ", which is not supported");
  if (type == tfl::TensorType::FLOAT16 && tensor(t).bytes == nullptr && m_scope.spread.count(t) == 0)
    refuse("tensor '" + tensor(t).name +
           "' is computed in float16, which is not supported. Export the model in float32");
  return *known;
}

bool tflite_importer::is_output(int t) const {
  const std::vector<int>& outputs = m_file.main().outputs;
  return m_scope.number == 0 && std::find(outputs.begin(), outputs.end(), t) != outputs.end();
}

bool tflite_importer::is_constant(int t) {
  load(t);
  const forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  return at(f.plain != no_value ? f.plain : f.picture).constant != nullptr;
}

bool tflite_importer::is_picture(int t) const { return m_scope.forms_of[static_cast<std::size_t>(t)].made_as_picture; }

std::string tflite_importer::value_name(int t) {
  return m_scope.number == 0 ? tensor(t).name : m_value_names.unique(m_scope.prefix + tensor(t).name);
}

/// Gives constants and variables of the file a value at first use.
void tflite_importer::load(int t) {
  forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  if (f.plain != no_value || f.picture != no_value) return;
  if (tensor(t).data->is_variable()) {
    f.plain = current(memory_of(t));
    return;
  }
  const auto [loaded, is_new] = m_loaded.try_emplace({m_scope.number, t}, no_value);
  if (!is_new) {
    f.plain = loaded->second;
    return;
  }
  value v;
  v.name = value_name(t);
  const std::string who = "tensor '" + tensor(t).name + "'";
  const bool sparse = tensor(t).data->sparsity() != nullptr;
  if (sparse) m_folder.make(count_of(tensor(t).shape), who);
  v.constant = std::make_shared<const array>(decode_tflite(tensor(t), true));
  if (!sparse) m_folder.make(v.constant->count(), who);  // tensors may share a buffer
  v.type = v.constant->type;
  v.shape = v.constant->shape;
  v.typed = v.known_rank = true;
  f.plain = loaded->second = m_graph.add(std::move(v));
  m_bound.insert(f.plain);
}

value_id tflite_importer::plain(int t) {
  load(t);
  forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  if (f.plain == no_value) {
    f.plain = transposed(f.picture, channels_to_back);
    value& v = m_graph.values[static_cast<std::size_t>(f.plain)];
    v.name = is_output(t) ? tensor(t).name : m_value_names.unique(m_scope.prefix + tensor(t).name + ":channels_last");
    m_bound.insert(f.plain);
  }
  return f.plain;
}

value_id tflite_importer::picture(int t) {
  load(t);
  forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  if (f.picture == no_value) {
    if (rank(t) != 4) fail("'" + tensor(t).name + "' must be a picture of four dimensions");
    f.picture = transposed(f.plain, channels_to_front);
    m_graph.values[static_cast<std::size_t>(f.picture)].name =
        m_value_names.unique(m_scope.prefix + tensor(t).name + ":channels_first");
    m_bound.insert(f.picture);
  }
  return f.picture;
}

bool tflite_importer::prefer_pictures(const std::vector<int>& tensors) const {
  const auto fits = [&](int t) { return rank(t) <= 4; };
  return std::all_of(tensors.begin(), tensors.end(), fits) &&
         std::any_of(tensors.begin(), tensors.end(), [&](int t) { return is_picture(t); });
}

value_id tflite_importer::operand(int t, bool pictures) {
  if (!pictures || rank(t) == 0) return plain(t);
  if (rank(t) == 4) return picture(t);
  shape_t wide(4 - rank(t), 1);
  wide.insert(wide.end(), shape(t).begin(), shape(t).end());
  return transposed(reshaped(plain(t), wide), channels_to_front);
}

value_id tflite_importer::constant(array a) {
  m_folder.make(a.count(), "its tables");
  value v;
  v.name = m_value_names.unique((m_op == nullptr ? std::string("constant") : operator_name(*m_op)) + "/constant");
  v.type = a.type;
  v.shape = a.shape;
  v.typed = v.known_rank = true;
  v.constant = std::make_shared<const array>(std::move(a));
  return m_graph.add(std::move(v));
}

value_id tflite_importer::constant_integers(const std::vector<std::int64_t>& list) {
  return constant(make_ints({static_cast<std::int64_t>(list.size())}, list));
}

value_id tflite_importer::constant_number(double v) { return constant(make_floats({}, {static_cast<float>(v)})); }

value_id tflite_importer::emit(const std::string& op, values inputs, attributes a) {
  return emit_many(op, std::move(inputs), std::move(a), 1)[0];
}

tflite_importer::values tflite_importer::emit_many(const std::string& op, values inputs, attributes a,
                                                   std::size_t results) {
  node n;
  n.op = op;
  const std::string owner = m_op == nullptr ? std::string("outputs") : operator_name(*m_op);
  n.name = !m_node_names.has(owner) ? owner : owner + "/" + op;
  n.version = onnx_opset;
  n.inputs = std::move(inputs);
  n.attributes = std::move(a);
  for (std::size_t i = 0; i < results; ++i) {
    value v;
    v.name = m_value_names.unique(n.name + "/" + op + "/result");
    n.outputs.push_back(m_graph.add(std::move(v)));
  }
  if (m_folder.run(n)) return n.outputs;
  n.name = m_node_names.unique(n.name);
  m_graph.nodes.push_back(n);
  return n.outputs;
}

value_id tflite_importer::transposed(value_id v, const std::vector<std::int64_t>& order) {
  return emit("Transpose", {v}, {{"perm", order}});
}

value_id tflite_importer::reshaped(value_id v, const shape_t& to) {
  return at(v).shape == to ? v : emit("Reshape", {v, constant_integers(to)}, {{"allowzero", std::int64_t{1}}});
}

void tflite_importer::bind(int t, value_id v, bool pictures) {
  const shape_t found = pictures ? in_order(at(v).shape, channels_to_back) : at(v).shape;
  if ((m_op->custom && rank(t) == 0) || (is_open(t) && fits(t, found)))
    m_scope.shapes[static_cast<std::size_t>(t)] = found;
  if (pictures && rank(t) != 4) fail("its result '" + tensor(t).name + "' must be a picture of four dimensions");
  const shape_t wanted = pictures ? in_order(shape(t), channels_to_front) : shape(t);
  if (at(v).shape != wanted || at(v).type != type_of(t))
    fail("it gives " + std::string(name_of(at(v).type)) + " " + to_string(at(v).shape) + ", but the file says that '" +
         tensor(t).name + "' is " + name_of(type_of(t)) + " " + to_string(wanted) +
         (pictures ? " (with channels first)" : "") + ". The file is damaged, or was made for another size");
  const bool exact_name = is_output(t) && !pictures;
  if (exact_name && at(v).constant) {
    value copy = at(v);
    v = m_graph.add(std::move(copy));
  } else if (exact_name && m_bound.count(v) != 0) {
    v = emit("Identity", {v});
  }
  if (m_bound.insert(v).second)
    m_graph.values[static_cast<std::size_t>(v)].name =
        is_output(t) && pictures ? m_value_names.unique(tensor(t).name + ":channels_first") : value_name(t);
  forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  (pictures ? f.picture : f.plain) = v;
  f.made_as_picture = pictures;
}

value_id tflite_importer::activated(value_id v, tfl::Activation a, double low, double high) {
  switch (a) {
    case tfl::Activation::NONE: break;
    case tfl::Activation::RELU: low = std::max(low, 0.0); break;
    case tfl::Activation::RELU_N1_TO_1: low = std::max(low, -1.0), high = std::min(high, 1.0); break;
    case tfl::Activation::RELU6: low = std::max(low, 0.0), high = std::min(high, 6.0); break;
    default:  // runtimes ignore a fused Tanh, or apply it
      fail("its fused activation " + std::to_string(static_cast<int>(a)) +
           " is not supported. Export it as an operator");
  }
  if (low == -infinity && high == infinity) return v;
  if (is_integer(at(v).type)) return limited(v, low, high);
  if (low == 0 && high == infinity) return emit("Relu", {v});
  return emit("Clip", {v, constant_number(low), constant_number(high)});
}

/// Integers between two limits, each of which may be infinite.
value_id tflite_importer::limited(value_id v, double low, double high) {
  const auto limit = [&](double l) {
    array a(at(v).type, {});
    a.set_integer(0, static_cast<std::int64_t>(l));
    return constant(std::move(a));
  };
  if (low != -infinity) v = emit("Max", {v, limit(low)});
  if (high != infinity) v = emit("Min", {v, limit(high)});
  return v;
}

void tflite_importer::finish(int t, value_id v, bool pictures, tfl::Activation a) {
  double low = -infinity, high = infinity;
  if (is_quantized(tensor(t))) std::tie(low, high) = quantized_range(tensor(t));
  bind(t, activated(v, a, low, high), pictures);
}

graph import_tflite(const std::byte* bytes, std::size_t size, const std::string& name, const tflite_options& options) {
  const tflite_file file = read_tflite(bytes, size, name);
  graph g = tflite_importer(file, options).run();
  const std::vector<std::string> warnings = std::move(g.facts.warnings), notes = std::move(g.facts.notes);
  g.facts = tflite_facts(file, bytes);
  g.facts.notes = notes;
  g.facts.warnings.insert(g.facts.warnings.end(), warnings.begin(), warnings.end());
  return g;
}

std::vector<std::string> tflite_operators() { return tflite_importer::operators(); }

}
