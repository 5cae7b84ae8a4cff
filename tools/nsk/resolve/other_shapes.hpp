// SPDX-License-Identifier: MIT
#pragma once
/// A model for several rows where its file fixes one: numbers that its exporter wrote for one are written anew. Which
/// axis of a result has the rows is chosen by rank where it does not follow; report/row_check.hpp finds wrong choices.
/// Other lengths are settled in other_lengths.hpp.
#include <map>
#include <string>

#include "resolve/folder.hpp"
#include "resolve/infer.hpp"
#include "resolve/node_placer.hpp"

namespace nsk::tool {

/// Looks at the nodes of a graph one after the other, before their shapes are inferred, and compares their operands
/// with those in `exported`, the same graph resolved for the shapes of its file.
class shape_adapter {
 public:
  /// `exported` may be null: then nothing changes.
  shape_adapter(graph& g, const graph* exported, folder& folds, node_placer& placer);

  /// Rewrites what the exporter computed of shapes that are others now: the target of a Reshape or Expand, the sizes of
  /// a Resize or Split, the ends of a Slice that takes whole axes, constants with one row where there are several
  /// (operands of a Concat, initial values of recurrent layers). Refuses, naming the node, what does not follow from
  /// the shapes.
  void adapt(node& n);
  /// To be called when the shapes of its results are known. Refuses a result that has another number of axes than in
  /// the exported graph: its exporter left out axes of length 1 that are longer now.
  void look_at_results(const node& n);

 private:
  /// Positions within an axis whose number changed: rows of a batch (one position became several), or an axis that was
  /// merged with others.
  struct part {
    std::size_t axis;
    std::int64_t inner;     ///< elements of the axis behind each position, in the exported graph
    std::int64_t was, now;  ///< positions
  };
  std::vector<part> parts_of(value_id v, std::size_t d) const;
  const value* before(value_id v) const;
  value& at(value_id v) { return m_placer.at(v); }
  bool has(const node& n, std::size_t i) const { return i < n.inputs.size() && n.inputs[i] != no_value; }
  bool is_literal(const node& n, std::size_t i);
  void write(node& n, std::size_t input, const std::string& what, const std::vector<std::int64_t>& numbers);
  void adapt_reshape(node& n);
  void adapt_expand(node& n);
  void adapt_resize(node& n);
  void adapt_split(node& n);
  void adapt_slice(node& n);
  void adapt_concat(node& n);
  void adapt_recurrent(node& n);
  void pass_on_parts(const node& n);
  void repeat(node& n, std::size_t input, const shape_t& shape);
  std::int64_t scaled(const node& n, std::int64_t number, std::int64_t was, std::int64_t is, const char* what) const;
  [[noreturn]] void fail(const node& n, const std::string& why) const;

  graph& m_graph;
  folder& m_folds;
  node_placer& m_placer;
  std::map<std::string, const value*> m_before;
  std::map<value_id, std::vector<part>> m_parts;  ///< of values whose axes a Reshape made of several
};

}
