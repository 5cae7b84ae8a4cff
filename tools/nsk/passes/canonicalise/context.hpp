// SPDX-License-Identifier: MIT
#pragma once
/// Private to the canonicalisation: what every rule reads and writes. A rule rewrites one node of the source graph: it
/// asks the context for the node's inputs and adds operations to the program. Values of the source are value_ids,
/// values of the program are positions in program::values.
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "program/program.hpp"

namespace nsk::tool::canonical {

class context {
 public:
  /// `bytes`: whether the program may have steps on bytes. `bounds`: the graph for the bounds of lengths, null where
  /// there are none.
  context(const graph& g, bool bytes, const graph* bounds);
  /// Makes `n` the node that is being rewritten.
  void begin(const node& n) { m_node = &n; }

  const node& op() const { return *m_node; }
  const graph& source() const { return m_graph; }
  bool computes_bytes() const { return m_bytes; }
  /// Whether sizes are those of every run. Else constants are not made of them, and no choice depends on them.
  bool has_fixed_sizes() const { return m_bounds == nullptr; }
  /// The program as far as it is made.
  program& made() { return m_program; }
  const program& made() const { return m_program; }

  // The node's inputs and outputs in the source.
  bool has(std::size_t i) const { return i < op().inputs.size() && op().inputs[i] != no_value; }
  const value& input(std::size_t i) const { return m_graph.values[static_cast<std::size_t>(op().inputs[i])]; }
  const shape_t& in_shape(std::size_t i) const { return input(i).shape; }
  element in_type(std::size_t i) const { return input(i).type; }
  /// The shape of input `i` at the bounds of lengths; its own where there are none.
  const shape_t& bound_shape(std::size_t i) const;
  /// Whether something reads output `i`.
  bool wants(std::size_t i) const { return i < op().outputs.size() && op().outputs[i] != no_value; }
  /// Output `i`, which this operator cannot leave out; refuses where it is.
  const value& output(std::size_t i = 0) const { return m_graph.values[static_cast<std::size_t>(output_id(i))]; }
  const shape_t& out_shape(std::size_t i = 0) const { return output(i).shape; }

  // The node's inputs and outputs in the program.
  /// Input `i`; no_value when absent.
  int in(std::size_t i) { return has(i) ? of(op().inputs[i]) : no_value; }
  int out(std::size_t i = 0) { return of(output_id(i)); }
  /// A value of the source; made at first use.
  int of(value_id v);
  const shape_t& shape(int v) const { return m_program.shape(v); }
  element type(int v) const { return m_program.values[static_cast<std::size_t>(v)].type; }

  /// Adds an operation that makes `result`, or output 0 of the node.
  operation& emit(operation_parameters p, std::vector<int> inputs, int result = no_value);
  /// A value that the source does not have, named after the node.
  int temporary(const std::string& suffix, shape_t shape, element type = element::f32);
  /// Counts numbers of weights and tables that are made for the node. Refuses more than 2^25 in all and 4 for each
  /// element of the model's constants, before they are made.
  void charge(double count);

  /// Normalises a possibly negative axis; refuses one that the rank does not have.
  int axis(std::int64_t axis, std::size_t rank) const;
  /// Refuses the node: names it with operator, opset and shapes, then says why.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  value_id output_id(std::size_t i) const;

  const graph& m_graph;
  const bool m_bytes;
  const graph* const m_bounds;
  const node* m_node = nullptr;
  program m_program;
  std::vector<int> m_map;  ///< program value of each source value; no_value where there is none yet
  double m_budget;         ///< numbers that weights and tables may still have
};

}
