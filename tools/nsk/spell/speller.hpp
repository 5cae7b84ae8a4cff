// SPDX-License-Identifier: MIT
#pragma once
/// Writes the nodes that stand in the place of one: how an operator that only says what operators of ONNX say together
/// is taken apart before its shapes are inferred. They are looked at like the source's own nodes.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "spell/node_placer.hpp"

namespace nsk::tool {

class speller {
 public:
  using attributes = std::map<std::string, attribute>;
  /// The opset whose meaning the written nodes have.
  static constexpr int opset = 23;

  speller(const graph& g, node_placer& placer, const node& n) : m_graph(g), m_placer(placer), m_node(n) {}

  const node& op() const { return m_node; }
  const graph& source() const { return m_graph; }
  bool has(std::size_t i) const { return m_node.reads(i); }
  bool wants(std::size_t i) const { return m_node.gives(i); }
  /// Input `i`; refuses an absent one, and one of unknown shape.
  value_id in(std::size_t i) const;
  /// Input `i`; no_value where it is absent.
  value_id maybe(std::size_t i) const { return has(i) ? in(i) : no_value; }
  shape_t shape(std::size_t i) const { return of(in(i)).shape; }  ///< a copy: values are added meanwhile
  /// The length of input `i` along an axis; refuses one that it does not have.
  std::int64_t length(std::size_t i, std::size_t axis) const;
  /// The only number of input `i`; refuses others, and one that is computed at run time.
  std::int64_t single_integer(std::size_t i) const;
  element type(std::size_t i) const { return of(in(i)).type; }
  const value& of(value_id v) const { return m_graph.at(v); }
  /// Elements of input `i`; refuses one that is computed at run time.
  const array& constant(std::size_t i) const;

  /// A number of input 0's type, or of `t`.
  value_id number(double v) { return number(v, type(0)); }
  value_id number(double v, element t);
  /// Constants of lists. They count, like the nodes, towards what the placer lets be spelled in all.
  value_id floats(shape_t shape, const std::vector<float>& values);
  value_id integers(const std::vector<std::int64_t>& values);  ///< int64, one axis
  value_id integer(std::int64_t v);                            ///< int64, no axes
  value_id keep(array a);                                      ///< does not count
  /// An array of zeros to be filled and kept; refuses more than 2^24 elements, which shapes alone may ask for.
  array make(element t, shape_t shape) const;

  /// Adds a node behind those before. Returns its first result.
  value_id add(const char* op, std::vector<value_id> inputs, attributes a = {});
  /// add() for an operator with several results, all of which it returns.
  std::vector<value_id> add_several(const char* op, std::vector<value_id> inputs, std::size_t results,
                                    attributes a = {});
  /// add() of a node whose first result is output `i` of the node; nothing where nothing reads it.
  void give(std::size_t i, const char* op, std::vector<value_id> inputs, attributes a = {});
  /// The node that was added last, whose opset and name may be set.
  node& last() { return m_nodes.back(); }
  /// A value for a node that is added as it is.
  value_id make_value(const char* op) { return m_placer.new_value(m_node, next_suffix(op)); }
  /// Adds a node as it is: operator, version, inputs, attributes and outputs are the caller's.
  void add(node n) { m_nodes.push_back(std::move(n)); }

  /// Tells who converts the model what its result differs in.
  void note(const std::string& text) { m_placer.note(text); }
  /// Puts everything in the node's place.
  void place();

  /// Refuses the node: names it with operator, opset and shapes, then says why.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string next_suffix(const char* op);
  value_id counted(array a);
  void add_counted(node n);

  const graph& m_graph;
  node_placer& m_placer;
  const node m_node;  ///< a copy: values are added while it is read
  std::vector<node> m_nodes;
  std::size_t m_count = 0;
};

/// Lists of attributes, empty where there are none, and null for no tensor; refuse other types.
std::vector<float> numbers_of(const speller& s, const std::string& key);
std::vector<std::string> texts_of(const speller& s, const std::string& key);
const array* tensor_of(const speller& s, const std::string& key);
/// The node's attributes without some of them.
speller::attributes kept_without(const speller& s, const std::vector<std::string>& names);

/// `v` as `t`, by a node where it has another type or none yet.
value_id cast_to(speller& s, value_id v, element t);

}
