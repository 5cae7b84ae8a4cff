// SPDX-License-Identifier: MIT
#pragma once
/// The nodes of a graph that is being resolved (infer.hpp), of which some give place to others.
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.hpp"

namespace nsk::tool {

/// Renames what the graphs inside `n` read from outside, by the names given; such graphs are copied first.
void rename_captures(node& n, const std::map<std::string, std::string>& renamed);

/// Holds the nodes that are still to be looked at, in order, and the names that are taken.
class node_placer {
 public:
  /// Takes the nodes of `g`.
  explicit node_placer(graph& g);

  value& at(value_id v) { return m_graph.at(v); }
  bool empty() const { return m_waiting.empty(); }
  std::size_t waiting() const { return m_waiting.size(); }
  /// The next node.
  node take();
  /// Puts a node before those that wait.
  void place(node n) { m_waiting.push_back(std::move(n)); }
  /// Puts several nodes before those that wait; the last one is taken first.
  void place(std::vector<node> nodes);
  /// Puts the nodes of a graph in the place of `n`: its inputs are the values given, its outputs become `outputs`.
  /// Refuses more than 64 MiB of nodes and values in all.
  void place_graph(const node& n, const graph& inner, const std::vector<value_id>& inputs,
                   const std::vector<value_id>& outputs, const std::string& prefix);

  /// The results of `n`, and what the nodes that wait compute from them: of those with graphs inside, everything.
  std::set<value_id> reached_from(const node& n) const;

  /// Counts what is spelled in the place of nodes; refuses more than 1 GiB in all.
  void count_spelled(const node& n, std::size_t bytes);

  /// Adds a note to the facts of the graph.
  void note(const std::string& text) { m_graph.facts.notes.push_back(text); }

  /// A node that stands in the place of `n`; of the version of that where none is given.
  static node helper(const node& n, const char* op, const std::string& suffix, std::vector<value_id> inputs,
                     value_id output, std::map<std::string, attribute> attributes = {}, int version = 0);
  /// Values named after `n`.
  value_id new_value(const node& n, const std::string& suffix);
  value_id new_constant(const node& n, const std::string& suffix, array a);

 private:
  using names = std::map<std::string, std::string>;

  /// Counts what takes the place of nodes.
  void charge(std::size_t bytes, const std::string& name);
  value_id adopt(const value& v, const std::string& prefix, names& renamed);
  node adopt(const node& n, const std::string& prefix, const std::vector<value_id>& ids, const names& renamed);

  graph& m_graph;
  std::size_t m_placed = 0;     ///< bytes, about, of what took the place of nodes with graphs inside
  std::size_t m_spelled = 0;    ///< bytes, about, of constants and nodes that others are spelled by
  std::vector<node> m_waiting;  ///< last first
  std::unordered_map<std::string, value_id> m_ids;
  std::set<std::string> m_node_names;
};

}
