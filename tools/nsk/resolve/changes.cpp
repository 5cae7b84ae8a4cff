// SPDX-License-Identifier: MIT
#include "resolve/changes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "errors.hpp"
#include "graph/onnx_type.hpp"
#include "resolve/shapes/folder.hpp"
#include "resolve/infer.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

constexpr int swish_opset = 14;   // the first with HardSwish
constexpr int argmax_opset = 13;  // of the nodes that --argmax adds: their attributes mean what they do there

using list = std::vector<std::int64_t>;

/// What changes of a graph are made of.
class editor {
 public:
  explicit editor(graph& g) : m_graph(g), m_folds(g, 0, true) {
    for (std::size_t i = 0; i < g.nodes.size(); ++i)
      for (const value_id v : g.nodes[i].outputs)
        if (v != no_value) m_producers[v] = i;
  }
  value& at(value_id v) { return m_graph.at(v); }
  /// The node that makes a value; null for inputs and constants.
  const node* producer(value_id v) const {
    const auto found = m_producers.find(v);
    return found == m_producers.end() ? nullptr : &m_graph.nodes[found->second];
  }
  const node* producer(value_id v, const char* op) const {
    const node* n = v == no_value ? nullptr : producer(v);
    return n != nullptr && n->op == op && n->domain.empty() ? n : nullptr;
  }
  /// A constant of one element, as a number; NaN for others.
  double number(value_id v) {
    return v != no_value && at(v).constant && at(v).constant->count() == 1 ? at(v).constant->number(0) : std::nan("");
  }
  value_id constant(const std::string& name, array a) { return m_graph.add_constant(unused(name), std::move(a)); }
  /// Makes a node behind all others, whose result has this name.
  value_id add(const std::string& op, const std::string& name, std::vector<value_id> inputs,
               std::map<std::string, attribute> attributes, const std::string& result) {
    value v;
    v.name = result;
    const node n = {op, "", name, argmax_opset, std::move(inputs), {m_graph.add(std::move(v))}, std::move(attributes)};
    m_folds.run(n);
    m_graph.nodes.push_back(n);
    return n.outputs[0];
  }
  std::string unused(const std::string& name) const {
    std::string result = name;
    for (int i = 2; m_graph.find(result) != no_value; ++i) result = name + "_" + std::to_string(i);
    return result;
  }

 private:
  graph& m_graph;
  folder m_folds;
  std::map<value_id, std::size_t> m_producers;
};

// Swish

/// Recognises x * sigmoid(x) and x * hard_sigmoid(x), in one node or several.
class swish_finder {
 public:
  explicit swish_finder(editor& e) : m_edit(e) {}

  /// The x of which node `n` makes a swish; no_value where it makes none.
  value_id soft(const node& n) {
    if (n.op == "Swish" && n.domain.empty()) return n.number("alpha", 1) == 1 ? n.inputs[0] : no_value;
    return factor(n, [&](value_id gate, value_id x) {
      const node* s = m_edit.producer(gate, "Sigmoid");
      return s != nullptr && s->inputs[0] == x;
    });
  }
  value_id hard(const node& n) {
    if (n.op == "HardSwish" && n.domain.empty()) return n.inputs[0];
    if (is(n, "Div") && near(m_edit.number(n.inputs[1]), 6)) return clipped(n.inputs[0]);
    if (is(n, "Mul"))
      for (const int i : {0, 1})
        if (near(m_edit.number(n.inputs[1 - static_cast<std::size_t>(i)]), 1.0 / 6))
          return clipped(n.inputs[static_cast<std::size_t>(i)]);
    return factor(n, [&](value_id gate, value_id x) { return is_hard_sigmoid(gate, x); });
  }

 private:
  static bool near(double a, double b) { return std::abs(a - b) < 1e-6; }
  static bool is(const node& n, const char* op) { return n.op == op && n.domain.empty() && n.inputs.size() == 2; }

  template <class IsGate>
  static value_id factor(const node& n, IsGate is_gate) {
    if (!is(n, "Mul")) return no_value;
    if (is_gate(n.inputs[0], n.inputs[1])) return n.inputs[1];
    return is_gate(n.inputs[1], n.inputs[0]) ? n.inputs[0] : no_value;
  }
  /// x where `v` is x * clip(x + 3, 0, 6).
  value_id clipped(value_id v) {
    const node* n = m_edit.producer(v, "Mul");
    if (n == nullptr) return no_value;
    return factor(*n, [&](value_id gate, value_id x) { return is_clip(gate, x); });
  }
  /// Whether `gate` is clip(x + 3, 0, 6).
  bool is_clip(value_id gate, value_id x) {
    const node* c = m_edit.producer(gate, "Clip");
    if (c == nullptr) return false;
    const double low = c->inputs.size() > 1 ? m_edit.number(c->inputs[1]) : static_cast<double>(c->number("min", -1));
    const double high = c->inputs.size() > 2 ? m_edit.number(c->inputs[2]) : static_cast<double>(c->number("max", -1));
    const node* sum = m_edit.producer(c->inputs[0], "Add");
    if (sum == nullptr || low != 0 || high != 6) return false;
    return (sum->inputs[0] == x && m_edit.number(sum->inputs[1]) == 3) ||
           (sum->inputs[1] == x && m_edit.number(sum->inputs[0]) == 3);
  }
  bool is_hard_sigmoid(value_id gate, value_id x) {
    if (const node* h = m_edit.producer(gate, "HardSigmoid"))
      return h->inputs[0] == x && near(static_cast<double>(h->number("alpha", 0.2F)), 1.0 / 6) &&
             near(static_cast<double>(h->number("beta", 0.5F)), 0.5);
    if (const node* d = m_edit.producer(gate, "Div"))
      return near(m_edit.number(d->inputs[1]), 6) && is_clip(d->inputs[0], x);
    if (const node* m = m_edit.producer(gate, "Mul"))
      return (near(m_edit.number(m->inputs[1]), 1.0 / 6) && is_clip(m->inputs[0], x)) ||
             (near(m_edit.number(m->inputs[0]), 1.0 / 6) && is_clip(m->inputs[1], x));
    return false;
  }

  editor& m_edit;
};

void change_swish(graph& g, swish_change change) {
  editor e(g);
  swish_finder finder(e);
  const bool to_hard = change == swish_change::to_hard;
  std::vector<std::pair<std::size_t, value_id>> found;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const value_id x = to_hard ? finder.soft(g.nodes[i]) : finder.hard(g.nodes[i]);
    if (x != no_value && e.at(x).shape == e.at(g.nodes[i].outputs[0]).shape) found.emplace_back(i, x);
  }
  const char *option = to_hard ? "--swish-to-hard-swish" : "--hard-swish-to-swish",
             *what = to_hard ? "Swish" : "HardSwish";
  if (found.empty()) refuse(std::string(option) + ": the model has no " + what + ". Leave the option out");
  std::vector<node> nodes;
  std::size_t next = 0;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    node n = g.nodes[i];
    if (next < found.size() && found[next].first == i) {
      n.attributes.clear();
      n.op = to_hard ? "HardSwish" : "Mul";
      n.version = swish_opset;
      n.inputs = {found[next].second};
      if (!to_hard) {
        node gate = n;
        gate.op = "Sigmoid";
        gate.name += "/sigmoid";
        value v = e.at(n.outputs[0]);
        v.name = e.unused(v.name + "/sigmoid");
        gate.outputs = {g.add(std::move(v))};
        n.inputs.push_back(gate.outputs[0]);
        nodes.push_back(std::move(gate));
      }
      ++next;
    }
    nodes.push_back(std::move(n));
  }
  g.nodes = std::move(nodes);
  g.facts.notes.push_back(std::to_string(found.size()) + " " + what +
                          (to_hard ? " became HardSwish (" : " became Swish (") + option + ")");
}

// Arg-max

std::int64_t axis_of(const graph& g, const std::string& name, const std::string& text, value_id output,
                     bool channels_last) {
  const auto rank = static_cast<std::int64_t>(g.at(output).shape.size());
  if (text.empty()) return rank == 4 && !channels_last ? 1 : rank - 1;
  std::int64_t axis = rank;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), axis);
  if (failed != std::errc{} || end != text.data() + text.size() || axis < -rank || axis >= rank)
    misuse("--argmax " + name + "=" + text + ": the output has " + std::to_string(rank) + " axes, counted from 0.");
  return axis < 0 ? axis + rank : axis;
}

/// Whether a Resize makes larger images of smaller ones, channel by channel.
bool enlarges(editor& e, const node& n) {
  const shape_t &from = e.at(n.inputs[0]).shape, &to = e.at(n.outputs[0]).shape;
  const std::string mode = n.text("coordinate_transformation_mode", "half_pixel");
  return from.size() == 4 && to.size() == 4 && from[0] == to[0] && from[1] == to[1] && from[2] <= to[2] &&
         from[3] <= to[3] && mode != "tf_crop_and_resize" && n.integers("axes").empty();
}

/// The index of the largest channel of `output`, in its place. Where the output is an enlarged image, the index is
/// taken before, and its image enlarged by the nearest pixel.
void insert_argmax(graph& g, const std::string& name, const std::string& axis_text) {
  std::vector<std::string> known;
  for (const value_id v : g.outputs) known.push_back(g.at(v).name);
  const auto place = std::find(known.begin(), known.end(), name);
  if (place == known.end())
    misuse("--argmax names '" + name + "', which is no output of the model." + did_you_mean(name, known) +
           " Its outputs: " + quoted(known));
  editor e(g);
  const value_id logits = g.outputs[static_cast<std::size_t>(place - known.begin())];
  if (e.at(logits).type != element::f32 || e.at(logits).shape.empty())
    misuse("--argmax " + name + ": the output is " + name_of(e.at(logits).type) + " " + to_string(e.at(logits).shape) +
           "; it must be float32 with at least one axis.");
  const node* order = e.producer(logits, "Transpose");
  if (order != nullptr && order->integers("perm") != list{0, 2, 3, 1}) order = nullptr;
  const std::int64_t axis = axis_of(g, name, axis_text, logits, order != nullptr);
  const std::int64_t channels = order != nullptr ? 3 : 1;
  const node* resize = e.producer(order != nullptr ? order->inputs[0] : logits, "Resize");
  if (resize != nullptr && (axis != channels || !enlarges(e, *resize))) resize = nullptr;

  shape_t result = e.at(logits).shape;
  const std::int64_t classes = result[static_cast<std::size_t>(axis)];
  result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  const std::string rest = name + "/logits", prefix = name + "/argmax";
  e.at(logits).name = e.unused(rest);
  const auto cast = [&](value_id v, onnx_type to, const std::string& result_name) {
    return e.add("Cast", result_name, {v}, {{"to", number_of(to)}}, result_name);
  };
  value_id v = no_value;
  if (resize == nullptr) {
    v = e.add("ArgMax", prefix, {logits}, {{"axis", axis}, {"keepdims", std::int64_t{0}}}, prefix);
    v = cast(v, onnx_type::int32, name);
  } else {
    const value_id small = resize->inputs[0];
    const shape_t large = e.at(resize->outputs[0]).shape;
    const std::string mode = resize->text("coordinate_transformation_mode", "half_pixel");
    v = e.add("ArgMax", prefix, {small}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{1}}}, prefix);
    v = cast(v, onnx_type::float32, prefix + "/float");
    const value_id sizes = e.constant(prefix + "/sizes", make_ints({4}, {large[0], 1, large[2], large[3]}));
    v = e.add("Resize", prefix + "/nearest", {v, no_value, no_value, sizes},
              {{"mode", std::string("nearest")}, {"coordinate_transformation_mode", mode}}, prefix + "/nearest");
    v = e.add("Reshape", prefix + "/shape",
              {v, e.constant(prefix + "/shape", make_ints({3}, {large[0], large[2], large[3]}))}, {},
              prefix + "/image");
    v = cast(v, onnx_type::int32, name);
  }
  g.outputs[static_cast<std::size_t>(place - known.begin())] = v;
  g.declared.erase(name);
  g.facts.notes.push_back(
      "output '" + name + "' is the arg-max of its " + std::to_string(classes) + " channels (--argmax)" +
      (resize == nullptr ? "" : ", taken before they are enlarged, and enlarged by the nearest pixel"));
}

// Names

void rename(graph& g, const std::string& from, const std::string& to) {
  const std::string option = "--rename " + from + "=" + to;
  std::vector<std::string> known;
  bool found = false;
  for (value& v : g.values) {
    if (v.name == to) misuse(option + ": the model has a tensor '" + to + "' already.");
    known.push_back(v.name);
  }
  for (const node& n : g.nodes) {
    if (n.name == to) misuse(option + ": the model has a node '" + to + "' already.");
    known.push_back(n.name);
  }
  for (value& v : g.values)
    if (v.name == from) v.name = to, found = true;
  for (node& n : g.nodes)
    if (n.name == from) n.name = to, found = true;
  if (!found) misuse(option + ": the model has no tensor or node '" + from + "'." + did_you_mean(from, known));
  if (auto facts = g.facts.ports.extract(from)) {
    facts.key() = to;
    g.facts.ports.insert(std::move(facts));
  }
}

}

std::string new_name(const model_changes& changes, const std::string& old) {
  const auto found = changes.names.find(old);
  return found == changes.names.end() ? old : found->second;
}

std::string old_name(const model_changes& changes, const std::string& changed) {
  for (const auto& [from, to] : changes.names)
    if (to == changed) return from;
  return changed;
}

void apply_changes(graph& g, const model_changes& changes) {
  if (changes.swish != swish_change::none) change_swish(g, changes.swish);
  for (const auto& [name, axis] : changes.argmaxes) insert_argmax(g, name, axis);
  if (changes.swish != swish_change::none || !changes.argmaxes.empty()) remove_unused(g);
  for (const auto& [from, to] : changes.names) rename(g, from, to);
}

}
