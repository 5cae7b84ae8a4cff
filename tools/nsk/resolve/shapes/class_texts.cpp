// SPDX-License-Identifier: MIT
#include "resolve/shapes/class_texts.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "errors.hpp"
#include "graph/names.hpp"

namespace nsk::tool {
namespace {

using i64 = std::int64_t;

constexpr std::size_t max_work = std::size_t{1} << 24, max_label_bytes = std::size_t{16} << 20;
constexpr char classic[] = "ai.onnx.ml";

/// Operators whose results are elements of their first input, or of all from another on.
const std::set<std::string>& moving() {
  static const std::set<std::string> names = {"Identity", "Reshape",        "Flatten",  "Squeeze", "Unsqueeze",
                                              "Expand",   "Transpose",      "Tile",     "Slice",   "Gather",
                                              "GatherND", "GatherElements", "Compress", "Split"};
  return names;
}

bool is_classifier(const node& n) {
  return n.op == "LinearClassifier" || n.op == "TreeEnsembleClassifier" || n.op == "SVMClassifier";
}

bool is_encoder(const node& n) { return n.op == "LabelEncoder" || n.op == "CategoryMapper"; }

/// Whether the last axis of the result has what that of the first input had.
bool keeps_columns(const node& n) {
  return n.op == "Cast" || n.op == "Identity" || n.op == "Softmax" || n.op == "Normalizer";
}

std::vector<i64> counted(std::size_t count) {
  std::vector<i64> list(count);
  std::iota(list.begin(), list.end(), i64{0});
  return list;
}

}

void class_texts::refuse_text(const node& n, value_id v) {
  const std::set<value_id> reached = m_placer.reached_from(n);
  std::string others;
  for (const value_id output : m_graph.outputs)
    if (reached.count(output) == 0) others += " --output-value " + at(output).name;
  const std::string choice = others.empty() ? "choose outputs that do not need it (--output-value NAME)"
                                            : "choose the outputs that do not need it:" + others;
  refuse(describe(m_graph, n) + ": '" + at(v).name +
         "' holds strings, which it does not take here. Remove text processing from the model, or " + choice);
}

void class_texts::charge(const node& n, std::size_t texts) {
  m_work += texts;
  if (m_work > max_work) refuse(describe(m_graph, n) + ": the model moves too many strings. Export integers instead");
}

/// The different ones of `texts` in their order, and where each of `texts` is among them.
class_texts::table class_texts::table_of(const std::vector<std::string>& texts, std::vector<i64>& positions) {
  std::unordered_map<std::string, i64> known;
  auto different = std::make_shared<std::vector<std::string>>();
  for (const std::string& text : texts) {
    const auto [found, is_new] = known.emplace(text, static_cast<i64>(different->size()));
    if (is_new) different->push_back(text);
    positions.push_back(found->second);
  }
  return different;
}

/// The table of a value of strings; null where it is none.
const class_texts::table* class_texts::of(value_id v) {
  const auto found = m_tables.find(v);
  return found == m_tables.end() ? nullptr : &found->second;
}

/// A constant of strings becomes one of integers. Returns whether the node is such a constant.
bool class_texts::read_constant(const node& n) {
  if (!n.has(text_attribute)) return false;
  std::vector<i64> positions;
  const value_id v = n.outputs[0];
  m_tables[v] = table_of(list(n, text_attribute), positions);
  at(v).hold(make_ints(n.integers(text_shape_attribute), positions));
  return true;
}

/// Where `texts` are in a table; a number below zero, another for each, where they are not.
std::vector<i64> class_texts::positions_in(const table& known, const std::vector<std::string>& texts) {
  std::unordered_map<std::string, i64> places;
  for (std::size_t i = 0; i < known->size(); ++i) places.emplace((*known)[i], static_cast<i64>(i));
  std::vector<i64> list;
  for (const std::string& text : texts) {
    const auto found = places.emplace(text, -1 - static_cast<i64>(list.size())).first;
    list.push_back(found->second);
  }
  return list;
}

std::vector<std::string> class_texts::list(const node& n, const std::string& key) {
  const auto* texts = n.find<std::vector<std::string>>(key);
  if (texts != nullptr) charge(n, texts->size());
  return texts == nullptr ? std::vector<std::string>() : *texts;
}

std::vector<std::string> class_texts::take(node& n, const std::string& key) {
  std::vector<std::string> texts = list(n, key);
  if (!texts.empty()) n.attributes.erase(key);
  return texts;
}

/// Labels that are strings become their positions.
void class_texts::name_classes(node& n) {
  const std::string key = n.op == "TreeEnsembleClassifier" ? "classlabels_int64s" : "classlabels_ints";
  if (!n.integers(key).empty()) return;
  std::vector<i64> positions;
  const std::vector<std::string> texts = take(n, "classlabels_strings");
  if (texts.empty()) return;
  const table labels = table_of(texts, positions);
  n.attributes[key] = positions;
  if (n.gives(0)) m_tables[n.outputs[0]] = labels;
  if (n.gives(1) && n.op != "SVMClassifier")
    m_columns[n.outputs[1]] = std::make_shared<const std::vector<std::string>>(texts);
}

/// The map of each row gives place to the row, whose numbers are named by what were its keys.
void class_texts::drop_map(const node& n) {
  if (n.inputs.size() != 1 || !n.reads(0) || n.outputs.size() != 1 || !n.gives(0))
    refuse(describe(m_graph, n) + ": it needs one input and one output. The file is damaged");
  std::vector<std::string> keys = list(n, "classlabels_strings");
  for (const i64 key : keys.empty() ? n.integers("classlabels_int64s") : std::vector<i64>())
    keys.push_back(std::to_string(key));
  charge(n, keys.size());
  const value& x = at(n.inputs[0]);
  if (x.shape.empty() || x.shape.size() > 2 || x.shape.back() != static_cast<i64>(keys.size()))
    refuse(describe(m_graph, n) + ": it has " + std::to_string(keys.size()) +
           " keys, and needs one for each number of a row");
  const value_id y = n.outputs[0];
  m_maps.insert(y);
  m_columns[y] = std::make_shared<const std::vector<std::string>>(std::move(keys));
  m_graph.facts.notes.push_back("'" + at(y).name +
                                "' is a list of maps in the model, and here the numbers of each row in the order of "
                                "their keys, which are its labels");
  node rows = node_placer::helper(n, "Identity", "rows", n.inputs, y, {}, 13);
  rows.name = n.name;
  m_placer.place(std::move(rows));
}

/// Keys and categories that are compared with strings become their positions in the table of those, which the node then
/// reads as numbers. Returns whether it was placed again.
bool class_texts::read_keys(node& n) {
  const table* known = of_input(n, 0);
  if (known == nullptr) return false;
  charge(n, (*known)->size());
  const bool one_hot = n.op == "OneHotEncoder";
  std::vector<std::string> texts = take(n, one_hot ? "cats_strings" : "keys_strings");
  if (texts.empty() && !one_hot) texts = take(n, "keys_tensor");
  if (texts.empty()) refuse_text(n, n.inputs[0]);
  n.attributes[one_hot ? "cats_int64s" : "keys_int64s"] = positions_in(*known, texts);
  const value_id plain = m_placer.new_value(n, "positions");
  node identity = node_placer::helper(n, "Identity", "positions", {n.inputs[0]}, plain, {}, 13);
  m_looked_up.insert(plain);
  n.inputs[0] = plain;
  m_placer.place({n, std::move(identity)});
  return true;
}

/// Values that are strings become their positions, the default behind them.
void class_texts::read_values(node& n) {
  std::vector<std::string> texts = take(n, "values_strings");
  if (texts.empty()) texts = take(n, "values_tensor");
  if (texts.empty()) return;
  const std::vector<std::string> given = take(n, "default_tensor");
  texts.push_back(given.empty() ? n.text("default_string", "_Unused") : given[0]);
  std::vector<i64> positions;
  const table values = table_of(texts, positions);
  n.attributes["default_int64"] = positions.back();
  positions.pop_back();
  n.attributes["values_int64s"] = positions;
  if (n.gives(0)) m_tables[n.outputs[0]] = values;
}

/// The older forms, of one list for both directions, become keys and values.
void class_texts::order_classes(node& n) {
  const bool mapper = n.op == "CategoryMapper";
  const std::vector<std::string> texts = take(n, mapper ? "cats_strings" : "classes_strings");
  if (texts.empty()) return;
  const std::vector<i64> numbers = mapper ? n.integers("cats_int64s") : counted(texts.size());
  const bool from_texts = of_input(n, 0) != nullptr;
  n.attributes[from_texts ? "keys_strings" : "values_strings"] = texts;
  n.attributes[from_texts ? "values_int64s" : "keys_int64s"] = numbers;
}

/// Results have the table of what they are elements of.
void class_texts::move(const node& n, const table& texts) {
  for (const value_id v : n.outputs)
    if (v != no_value) m_tables[v] = texts;
}

/// Makes one table of those of the inputs from `first` on: look-ups stand before the node where numbers change. Returns
/// whether they took its place, it included.
bool class_texts::unite(node& n, std::size_t first) {
  std::vector<table> tables;
  for (std::size_t i = first; i < n.inputs.size(); ++i) {
    const table* t = of_input(n, i);
    if (t == nullptr)
      refuse_text(n, *std::find_if(n.inputs.begin(), n.inputs.end(), [&](value_id v) { return of(v); }));
    tables.push_back(*t);
  }
  if (std::all_of(tables.begin(), tables.end(), [&](const table& t) { return t == tables[0]; })) {
    if (n.op != "Equal") move(n, tables[0]);
    return false;
  }
  std::vector<std::string> all;
  for (const table& t : tables) {
    charge(n, t->size());
    all.insert(all.end(), t->begin(), t->end());
  }
  std::vector<i64> positions;
  const table united = table_of(all, positions);
  std::vector<node> placed = {n};
  auto from = positions.begin();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::vector<i64> own(from, from + static_cast<std::ptrdiff_t>(tables[i]->size()));
    from += static_cast<std::ptrdiff_t>(tables[i]->size());
    const std::string suffix = "text_" + std::to_string(i);
    const value_id found = m_placer.new_value(n, suffix),
                   places = m_placer.new_constant(n, suffix, make_ints({static_cast<i64>(own.size())}, own));
    placed.push_back(node_placer::helper(n, "Gather", suffix, {places, n.inputs[first + i]}, found, {}, 13));
    m_tables[found] = united;
    m_looked_up.insert(found);
    placed[0].inputs[first + i] = found;
  }
  m_placer.place(std::move(placed));
  return true;
}

/// Names of columns go along with them.
void class_texts::name_columns(const node& n, value_id from, value_id to) {
  const auto found = m_columns.find(from);
  if (found == m_columns.end() || to == no_value || !keeps_columns(n)) return;
  m_columns.emplace(to, found->second);
}

void class_texts::refuse_maps(const node& n) {
  for (const value_id v : n.inputs)
    if (m_maps.count(v) != 0 && n.op != "Identity")
      refuse(describe(m_graph, n) + ": it reads '" + at(v).name +
             "', which is a list of maps. Choose that as an output (--output-value " + at(v).name + ")");
}

bool class_texts::replace(node& n) {
  if (n.outputs.size() == 1 && m_looked_up.count(n.outputs[0]) != 0) return false;
  if (read_constant(n)) return true;
  if (n.domain == classic) {
    if (n.op == "ZipMap") return drop_map(n), true;
    if (is_classifier(n)) name_classes(n);
    if (is_encoder(n)) order_classes(n);
    if ((is_encoder(n) || n.op == "OneHotEncoder") && read_keys(n)) return true;
    if (is_encoder(n)) read_values(n);
  }
  if (!n.inputs.empty() && !n.outputs.empty()) name_columns(n, n.inputs[0], n.outputs[0]);
  const auto reads = [&](value_id v) { return of(v) != nullptr; };
  const auto text = std::find_if(n.inputs.begin(), n.inputs.end(), reads);
  if (text == n.inputs.end()) return false;
  const bool standard = n.domain.empty();
  if (standard && (n.op == "Concat" || n.op == "Equal")) return unite(n, 0);
  if (standard && n.op == "Where" && n.inputs.size() == 3) return unite(n, 1);
  if (standard && (n.op == "Shape" || n.op == "Size")) return false;
  const bool first_alone = text == n.inputs.begin() && std::none_of(text + 1, n.inputs.end(), reads);
  const bool moved =
      (standard && moving().count(n.op) != 0) || (n.domain == classic && n.op == "ArrayFeatureExtractor");
  if (!first_alone || !moved) refuse_text(n, *text);
  if (moved) move(n, *of(n.inputs[0]));
  return false;
}

void class_texts::label_outputs() {
  std::size_t bytes = 0;
  for (const value_id v : m_graph.outputs) {
    const table* texts = of(v);
    const auto columns = m_columns.find(v);
    if (texts == nullptr && columns == m_columns.end()) continue;
    const std::vector<std::string>& labels = texts != nullptr ? **texts : *columns->second;
    const std::string name = at(v).name, what = "the labels of output '" + name + "' ";
    for (const std::string& label : labels) bytes += label.size();
    if (!std::all_of(labels.begin(), labels.end(), is_plain_text))
      m_graph.facts.warnings.push_back(what + "are no UTF-8 or hold control characters, and were left out");
    else if (bytes > max_label_bytes)
      m_graph.facts.warnings.push_back(what + "take more than 16 MiB, with those before them, and were left out");
    else
      m_graph.facts.ports[name].labels = labels;
    if (texts != nullptr)
      m_graph.facts.notes.push_back("output '" + name + "' is text in the model, and here the position of one of its " +
                                    std::to_string(labels.size()) + " labels");
  }
}

}
