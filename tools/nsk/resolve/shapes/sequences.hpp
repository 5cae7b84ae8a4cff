// SPDX-License-Identifier: MIT
#pragma once
/// Sequences of tensors whose lengths are known: lists of values while a graph is resolved, and nothing afterwards.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spell/node_placer.hpp"

namespace nsk::tool {

class sequences {
 public:
  sequences(graph& g, node_placer& placer) : m_graph(g), m_placer(placer) {}

  /// The operators that are taken, sorted.
  static std::vector<std::string> operators();
  /// Whether `v` is a sequence that is known.
  bool holds(value_id v) const { return m_lists.count(v) != 0; }
  /// Takes an operator on sequences: remembers the one that it makes, or puts operators on tensors in its place.
  /// Returns whether it did. Refuses positions and lengths that are computed at run time.
  bool replace(const node& n);
  /// Refuses outputs of the model that are sequences.
  void refuse_outputs() const;

 private:
  using list = std::vector<value_id>;

  const list& list_at(const node& n, std::size_t input) const;
  bool change(const node& n);
  bool read(const node& n);
  void split(const node& n);
  void concatenate(const node& n);
  void map(const node& n);
  std::int64_t position(const node& n, std::size_t input, std::int64_t length, std::int64_t absent) const;
  std::int64_t axis(const node& n, std::int64_t rank) const;
  const value& at(value_id v) const { return m_graph.at(v); }
  [[noreturn]] void refuse(const node& n, const std::string& why) const;

  graph& m_graph;
  node_placer& m_placer;
  std::map<value_id, list> m_lists;
};

}
