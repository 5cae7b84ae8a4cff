// SPDX-License-Identifier: MIT
#pragma once
/// The graph that an import makes: adds inputs, constants and nodes, folds what is constant, and keeps names unique.
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>
#include "resolve/shapes/folder.hpp"
#include "graph/names.hpp"

namespace nsk::tool::tflite {

using attributes = std::map<std::string, attribute>;
using values = std::vector<value_id>;

class emitter {
 public:
  /// `file_size`, in bytes, sets the limits of what is folded.
  explicit emitter(std::size_t file_size) : m_folder(m_graph, static_cast<std::int64_t>(file_size)) {}

  graph& result() { return m_graph; }
  folder& limits() { return m_folder; }
  name_pool& names() { return m_value_names; }
  const value& at(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)]; }

  /// What nodes and constants are named after: the operator at hand, nothing outside of operators.
  const std::string& owner() const { return m_owner; }
  void set_owner(std::string owner) { m_owner = std::move(owner); }

  value_id add_input(const std::string& name, element type, const shape_t& shape);
  value_id add_constant(const std::string& name, array a);
  /// A constant of the operator at hand. Refuses what is beyond the limits.
  value_id constant(array a);
  /// Adds a node of the newest opset; folds it where its inputs are constant. Refuses what the reference does not know
  /// or accept.
  values emit(const std::string& op, values inputs, attributes a, std::size_t results);

  /// Adds a node of one result and keeps it where its inputs are constant: later passes look at what it reads.
  value_id emit_kept(const std::string& op, values inputs, attributes a);

  /// Whether a value has the name of a tensor or of a state; it has one such name at most.
  bool is_named(value_id v) const { return m_named.count(v) != 0; }
  void set_name(value_id v, const std::string& name);

 private:
  void note_stored(const node& n);

  graph m_graph;
  folder m_folder;
  std::unordered_set<value_id> m_named;
  name_pool m_value_names, m_node_names;
  std::string m_owner;
};

}
