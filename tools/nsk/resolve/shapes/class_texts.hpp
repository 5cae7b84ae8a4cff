// SPDX-License-Identifier: MIT
#pragma once
/// Strings of a graph that is being resolved: each is its position in a table of texts, which the file keeps as labels
/// of an output.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "spell/node_placer.hpp"

namespace nsk::tool {

class class_texts {
 public:
  class_texts(graph& g, node_placer& placer) : m_graph(g), m_placer(placer) {}

  /// The operators that nothing else takes, with their domain in front; sorted.
  static std::vector<std::string> operators() { return {"ai.onnx.ml.ZipMap"}; }
  /// Refuses a node that reads what was a list of maps, which operators on sequences know nothing of.
  void refuse_maps(const node& n);
  /// Makes integers of what strings a node reads and gives: its attributes change, or nodes take its place. Returns
  /// whether they did. Refuses strings that it does not take.
  bool replace(node& n);
  /// Gives the outputs their labels, and says so.
  void label_outputs();

 private:
  using table = std::shared_ptr<const std::vector<std::string>>;

  value& at(value_id v) { return m_graph.at(v); }
  const table* of(value_id v);
  const table* of_input(const node& n, std::size_t i) { return i < n.inputs.size() ? of(n.inputs[i]) : nullptr; }
  table table_of(const std::vector<std::string>& texts, std::vector<std::int64_t>& positions);
  std::vector<std::int64_t> positions_in(const table& known, const std::vector<std::string>& texts);
  void charge(const node& n, std::size_t texts);
  std::vector<std::string> list(const node& n, const std::string& key);
  std::vector<std::string> take(node& n, const std::string& key);

  bool read_constant(const node& n);
  void name_classes(node& n);
  void name_columns(const node& n, value_id from, value_id to);
  void drop_map(const node& n);
  bool read_keys(node& n);
  void read_values(node& n);
  void order_classes(node& n);
  bool unite(node& n, std::size_t first);
  void move(const node& n, const table& texts);
  [[noreturn]] void refuse_text(const node& n, value_id v);

  graph& m_graph;
  node_placer& m_placer;
  std::map<value_id, table> m_tables;   ///< of elements
  std::map<value_id, table> m_columns;  ///< of what the last axis has a place for
  std::set<value_id> m_maps;
  std::set<value_id> m_looked_up;  ///< results of look-ups in tables
  std::size_t m_work = 0;          ///< texts looked at
};

}
