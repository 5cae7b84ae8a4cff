// SPDX-License-Identifier: MIT
#pragma once
/// The source model as a typed graph: operators, attributes and axis order exactly as in the source (ONNX names, NCHW),
/// with the source's own names kept. Import makes it, shape inference completes it, the reference evaluator runs it,
/// the passes read it.
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>
#include "graph/array.hpp"
#include "graph/facts.hpp"

namespace nsk::tool {

struct graph;
using value_id = int;                     ///< index into graph::values
inline constexpr value_id no_value = -1;  ///< an optional input that is absent

/// Attributes of the converter's own on nodes Constant of strings, until resolve() makes integers of them.
inline constexpr char text_attribute[] = "nsk_texts";        ///< one per element
inline constexpr char text_shape_attribute[] = "nsk_shape";  ///< of the tensor

using attribute = std::variant<std::int64_t, float, std::string, array, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, std::shared_ptr<graph>>;

/// A constant as the source stores it, where the graph has it with its axes in another order.
struct stored_constant {
  std::string name;  ///< the source's tensor
  std::shared_ptr<const array> values;
  std::vector<std::int64_t> permutation;  ///< axis d of the constant is axis permutation[d] of `values`
};

/// One tensor of the graph. Dimensions that are not known (yet) are -1; `known_rank` is false where not even the rank
/// is.
struct value {
  std::string name;
  element type = element::f32;
  bool typed = false;  ///< type is known
  bool known_rank = false;
  shape_t shape;
  std::vector<std::string> symbols;       ///< symbolic dimension names of inputs, "" where there is none; may be empty
  std::shared_ptr<const array> constant;  ///< initializer, or the result of folding
  std::shared_ptr<const stored_constant> stored;  ///< where the source stores it in another order; may be null
  bool is_static() const;                         ///< rank and all dimensions known
  /// Makes type and shape known.
  void set(element t, shape_t s);
  /// Makes it a constant, with the type and the shape of `a`.
  void hold(array a);
};

struct node {
  std::string op;      ///< ONNX operator, "Conv"
  std::string domain;  ///< "" for ai.onnx
  std::string name;    ///< source name, or "<op>_<index>" where it had none
  int version = 0;     ///< opset version of its domain
  std::vector<value_id> inputs, outputs;
  std::map<std::string, attribute> attributes;

  bool reads(std::size_t i) const { return i < inputs.size() && inputs[i] != no_value; }    ///< input `i` is there
  bool gives(std::size_t i) const { return i < outputs.size() && outputs[i] != no_value; }  ///< output `i` is wanted
  bool has(const std::string& key) const { return attributes.count(key) != 0; }
  /// The attribute where it is a T, else null.
  template <class T>
  const T* find(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
  }
  /// Attribute with a default; an attribute of another type is refused (tool error naming the node).
  std::int64_t integer(const std::string& key, std::int64_t fallback) const;
  float number(const std::string& key, float fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  std::vector<std::int64_t> integers(const std::string& key, const std::vector<std::int64_t>& fallback = {}) const;
};
/// Returns a node of ONNX's own domain with one output, and without attributes.
node node_of(std::string op, std::string name, std::vector<value_id> inputs, value_id output, int version = 13);

/// An input and the output whose value it has in the next run, by the source's names.
struct state_link {
  std::string input, output;
  std::shared_ptr<const array> initial = nullptr;  ///< value in the first run; zeros where there is none
};

/// A number of results that a node counts, and that shapes of the graph follow: the element of a value.
struct counted_length {
  std::string name;                       ///< of that value
  std::int64_t minimum = 0, maximum = 0;  ///< for the shapes of the graph
};

struct graph {
  std::string name, producer;
  std::vector<value> values;
  std::vector<node> nodes;                   ///< topological order
  std::vector<value_id> inputs, outputs;     ///< inputs without initializers
  std::vector<std::string> missing_outputs;  ///< that the source lists and nothing produces
  std::map<std::string, shape_t> declared;   ///< shapes that the source states of its outputs; -1 where open
  std::vector<state_link> states;            ///< inputs and outputs that the source itself keeps from run to run
  std::vector<counted_length> counted;       ///< lengths that nodes of the graph count
  model_facts facts;
  std::vector<value_id>
      captures;  ///< of a subgraph: values that stand for those of the same names in the graphs around it

  value& at(value_id v) { return values[static_cast<std::size_t>(v)]; }
  const value& at(value_id v) const { return values[static_cast<std::size_t>(v)]; }
  value_id find(const std::string& value_name) const;  ///< no_value when absent
  value_id add(value v);
  value_id add_constant(const std::string& value_name, array a);
};

/// Bodies and branches of a node.
std::vector<const graph*> graphs_inside(const node& n);
/// Names of the values around a node that graphs inside it read.
std::vector<std::string> captured_names(const node& n);

/// Elements of all constants that a graph holds: values, attributes and graphs inside.
std::int64_t constant_elements(const graph& g);

/// "node 'conv1' (Conv, opset 13, input [1,3,224,224] float32, ...)": how every message names a node.
std::string describe(const graph& g, const node& n);

}
