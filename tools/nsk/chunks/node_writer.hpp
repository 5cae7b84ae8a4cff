// SPDX-License-Identifier: MIT
#pragma once
/// Adds nodes and constants to the graph that computes a network chunk by chunk, named after those of the source.
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "graph/names.hpp"

namespace nsk::tool::chunks {

class node_writer {
 public:
  using attributes = std::map<std::string, attribute>;

  /// `whole` is resolved for a signal.
  explicit node_writer(const graph& whole);

  const graph& whole() const { return m_whole; }
  const value& source(value_id v) const { return m_whole.at(v); }
  /// The node whose results are being written.
  void begin(const node& n) { m_node = &n; }
  const node& current() const { return *m_node; }
  [[noreturn]] void refuse(const std::string& why) const;

  /// Adds a node with one new result.
  value_id add(const std::string& op, std::vector<value_id> inputs, attributes a = {}, int version = 13);
  value_id constant(array a);
  value_id integers(const std::vector<std::int64_t>& numbers);
  value_id number(double x, element type);
  /// The part [from, to) of an axis.
  value_id part(value_id x, std::size_t axis, std::int64_t from, std::int64_t to, std::int64_t step = 1);

 protected:
  value_id new_value(const std::string& name, element type = element::f32);
  std::string base_name(value_id id) const { return m_made.at(id).name; }

  const graph& m_whole;
  const node* m_node = nullptr;
  graph m_made;
  name_pool m_names, m_nodes;
};

}
