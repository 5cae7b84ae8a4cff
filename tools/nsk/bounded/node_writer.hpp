// SPDX-License-Identifier: MIT
#pragma once
/// Writes nodes beside others into a graph whose values have types and shapes.
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "graph/names.hpp"

namespace nsk::tool::bounded {

/// Numbers that cannot win, or change nothing.
enum class neutral { zero, one, lowest, highest };

class node_writer {
 public:
  using i64 = std::int64_t;

  /// Begins with the values of `g` and none of its nodes.
  explicit node_writer(const graph& g);

  graph& made() { return m_made; }
  value& made(value_id v) { return m_made.at(v); }
  /// Helpers are named after `n` from here on.
  void begin(const node& n) { m_node = &n; }
  const node& op() const { return *m_node; }
  value_id input(std::size_t i) const { return m_node->inputs[i]; }

  /// Adds `n`; its results have types and shapes.
  void place(node n) { m_made.nodes.push_back(std::move(n)); }
  /// Adds `n` and finds out the types and shapes of its results.
  value_id place_new(node n);
  /// The node as it stands, with other operands.
  void place_with(const std::vector<value_id>& inputs);
  /// Adds a node beside the one that is looked at, and returns its result, or writes it to `output`.
  value_id emit(const std::string& op, const std::vector<value_id>& inputs,
                const std::map<std::string, attribute>& attributes = {}, value_id output = no_value);
  /// emit() with the node named after `by`.
  value_id emit_beside(const node& by, const std::string& suffix, const std::string& op,
                       const std::vector<value_id>& inputs, const std::map<std::string, attribute>& attributes,
                       value_id output = no_value);
  value_id constant(array a);
  value_id constant(array a, const std::string& name);
  value_id integers(const shape_t& shape, const std::vector<i64>& values, element type = element::i64);
  value_id neutral_of(element type, neutral what);
  value_id cast(value_id v, element type);
  value_id reshaped(value_id v, const shape_t& shape);
  value_id slice(value_id v, std::size_t axis, i64 start, i64 end, value_id output = no_value);
  value_id new_value(const std::string& name);
  value_id new_value(const std::string& name, element type, const shape_t& shape);
  /// Drops nodes that lead to no output.
  void remove_dead();

 private:
  graph m_made;
  const node* m_node = nullptr;
  name_pool m_value_names, m_node_names;
};

}
