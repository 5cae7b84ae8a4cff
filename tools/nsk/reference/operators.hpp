// SPDX-License-Identifier: MIT
#pragma once
/// How the reference knows operators: a table from name to a pair of functions. `infer` sets type and shape of every
/// output, `evaluate` fills them. Both see one `call`. Arrays inside the reference have one of three types: f64, i64,
/// boolean.
#include <map>
#include <string>
#include <type_traits>
#include <vector>
#include "errors.hpp"
#include "graph/graph.hpp"

namespace nsk::tool::reference {

/// The type that holds elements of type `t` during evaluation: f64, i64 or boolean.
element held_as(element t);

/// An input of a call; `data` is null where the values are not known (during inference).
struct operand {
  bool present = false;
  element type = element::f32;
  shape_t shape;
  const array* data = nullptr;
};

/// An output of a call: declared type and shape come from infer; `data` is allocated before evaluate.
struct result {
  bool wanted = false;    ///< something may read it; the first output always counts as wanted
  bool declared = false;  ///< by infer
  element type = element::f32;
  shape_t shape;
  array data;
};

/// One use of an operator.
class call {
 public:
  call(const graph& g, const node& n) : m_graph(g), m_node(n), m_inputs(n.inputs.size()), m_outputs(n.outputs.size()) {}

  const node& op() const { return m_node; }
  const graph& source() const { return m_graph; }

  std::size_t input_count() const { return m_inputs.size(); }
  std::size_t output_count() const { return m_outputs.size(); }
  bool has(std::size_t i) const { return i < m_inputs.size() && m_inputs[i].present; }
  bool wants(std::size_t i) const { return i < m_outputs.size() && m_outputs[i].wanted; }
  operand& input(std::size_t i) { return m_inputs[i]; }
  result& output(std::size_t i) { return m_outputs[i]; }

  /// Type and shape of an input; refuses absent ones.
  element type(std::size_t i) const { return required(i).type; }
  const shape_t& shape(std::size_t i) const { return required(i).shape; }
  std::size_t rank(std::size_t i) const { return required(i).shape.size(); }
  /// Values of an input; refuses unknown ones, because then the output's shape depends on data.
  const array& data(std::size_t i) const;
  /// data() as numbers of one type; refuses inputs of another.
  const double* floats(std::size_t i) const {
    const array& a = data(i);
    if (a.type != element::f64) fail("input " + std::to_string(i) + " must be of a float type");
    return a.as<double>();
  }
  const std::int64_t* integers(std::size_t i) const {
    const array& a = data(i);
    if (a.type != element::i64) fail("input " + std::to_string(i) + " must be of an integer type");
    return a.as<std::int64_t>();
  }
  std::vector<std::int64_t> integer_list(std::size_t i) const;
  std::vector<double> number_list(std::size_t i) const;
  /// The only element of an input; refuses longer ones.
  double scalar(std::size_t i) const;
  std::int64_t integer_scalar(std::size_t i) const;

  /// Declares output `i` (ignored where it is not wanted).
  void declare(std::size_t i, element type, shape_t shape);
  array& out(std::size_t i) { return m_outputs[i].data; }
  const shape_t& out_shape(std::size_t i) const { return m_outputs[i].shape; }
  /// Elements of an output; refuses outputs of another type.
  double* out_floats(std::size_t i = 0) {
    if (out(i).type != element::f64) fail("its result must be of a float type");
    return out(i).as<double>();
  }
  std::int64_t* out_integers(std::size_t i = 0) {
    if (out(i).type != element::i64) fail("its result must be of an integer type");
    return out(i).as<std::int64_t>();
  }

  /// Names the node with operator, opset and shapes: how messages begin.
  std::string who() const;
  /// Refuses the node: names it with operator, opset and shapes, then says why.
  [[noreturn]] void fail(const std::string& why) const;
  /// Refuses the values of the inputs, for which the operator has no result: throws undefined_result.
  [[noreturn]] void fail_on_data(const std::string& why) const;
  void require(bool condition, const char* why) const {
    if (!condition) fail(why);
  }
  void require_inputs(std::size_t minimum, std::size_t maximum) const;
  void require_float(std::size_t i) const;
  void require_rank(std::size_t i, std::size_t minimum, std::size_t maximum) const;
  /// Normalises an axis of a tensor of `rank` dimensions; refuses those outside [-rank, rank).
  std::size_t axis(std::int64_t axis, std::size_t rank) const;

 private:
  const operand& required(std::size_t i) const;

  const graph& m_graph;
  const node& m_node;
  std::vector<operand> m_inputs;
  std::vector<result> m_outputs;
};

/// Attribute of an operator whose number of results is data, and bounded at conversion: rows of its output.
inline constexpr char suppression_bound[] = "nsk_bound";

/// Whether a node makes random numbers: it is never a constant, and the resolved graph numbers it in the attribute
/// below.
bool is_random(const node& n);
inline constexpr char random_stream[] = "nsk_stream";

struct definition {
  void (*infer)(call&);
  void (*evaluate)(call&);
  int since = 1;  ///< oldest opset of its domain that has the operator
  /// Multiply-adds of an evaluation, about, where they are more than a few per element read and made; after infer.
  double (*work)(call&) = nullptr;
};

/// "Conv" for the default domain, "com.microsoft.Gelu" for others.
using table = std::map<std::string, definition>;
const table& operators();
const definition* find_operator(const node& n);

// One function per file of operators.
void add_unary(table& t);
void add_elementwise(table& t);
void add_convolution(table& t);
void add_pooling(table& t);
void add_matrix(table& t);
void add_normalization(table& t);
void add_shape(table& t);
void add_slicing(table& t);
void add_constant(table& t);
void add_selection(table& t);
void add_suppression(table& t);
void add_unique(table& t);
void add_reduction(table& t);
void add_resize(table& t);
void add_recurrent(table& t);
void add_random(table& t);
void add_trees(table& t);
void add_tree_ensemble(table& t);
void add_linear(table& t);
void add_einsum(table& t);
void add_sample(table& t);
void add_regions(table& t);
void add_signal(table& t);
void add_quantize(table& t);
void add_integer_products(table& t);

/// Calls f with a pointer to the elements' type: f(double*), f(std::int64_t*) or f(std::uint8_t*), all null.
template <class F>
void by_type(element held, F f) {
  if (held == element::f64)
    f(static_cast<double*>(nullptr));
  else if (held == element::boolean)
    f(static_cast<std::uint8_t*>(nullptr));
  else
    f(static_cast<std::int64_t*>(nullptr));
}
template <class Pointer>
using pointee = std::remove_pointer_t<Pointer>;

/// Arithmetic on held elements: integers wrap modulo 2^64.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return static_cast<T>(a + b);
}
template <class T>
T minus(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return static_cast<T>(a - b);
}
template <class T>
T times(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return static_cast<T>(a * b);
}

/// Axes from an attribute in older opsets or input `i` in newer ones, normalised against `rank`, without repetition.
std::vector<std::size_t> axes_of(const call& c, std::size_t i, std::size_t rank);
/// Output 0 has the elements of input 0, in the same order.
inline void evaluate_copy(call& c) { c.out(0).data = c.data(0).data; }
/// Row-major strides in elements.
shape_t strides_of(const shape_t& shape);
/// Strides that read `from` as if it were broadcast to `to`: 0 along repeated axes. The caller has checked that it can
/// be.
shape_t broadcast_strides(const shape_t& from, const shape_t& to);
/// NumPy's broadcasting of two shapes.
shape_t broadcast(const call& c, const shape_t& a, const shape_t& b);
/// A number of elements or multiply-adds, as the sums of `definition::work` have them.
inline double as_work(std::int64_t count) { return static_cast<double>(count); }
/// Product of the dimensions [first, last).
std::int64_t count_between(const shape_t& s, std::size_t first, std::size_t last);

/// Visits the indices of `shape` in row-major order: f(i, offset), offset = sum of index * stride.
template <class F>
void for_each_offset(const shape_t& shape, const shape_t& stride, F f) {
  const std::int64_t count = count_of(shape);
  shape_t index(shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    f(i, offset);
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += stride[d];
      if (++index[d] < shape[d]) break;
      offset -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

/// y[i] = x[start + sum of index * stride], index running over `shape` in row-major order.
inline void copy_strided(const array& x, array& y, const shape_t& shape, const shape_t& stride, std::int64_t start) {
  by_type(y.type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for_each_offset(shape, stride, [&](std::int64_t i, std::int64_t at) { y.as<T>()[i] = x.as<T>()[start + at]; });
  });
}

}
