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
#include "graph/integer_range.hpp"

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
  std::vector<double> number_list(std::size_t i) const { return data(i).numbers(); }
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

/// Attribute of an operator whose number of results is data, and bounded at conversion: rows of its output. Where only
/// a shape is asked for, it has as many; an evaluation gives as many as there are.
inline constexpr char suppression_bound[] = "nsk_bound";
/// Rows that a NonMaxSuppression always has, those that it does not keep being -1 (TensorFlow Lite).
inline constexpr char padded_rows[] = "nsk_rows";

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

// One function per file of operators, which adds them.
using add_operators = void(table& t);
add_operators add_unary, add_elementwise, add_convolution, add_pooling, add_matrix, add_normalization, add_shape,
    add_slicing, add_constant, add_selection, add_suppression, add_unique, add_reduction, add_resize, add_recurrent,
    add_random, add_trees, add_tree_ensemble, add_linear, add_einsum, add_sample, add_regions, add_signal, add_quantize,
    add_integer_products;

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

/// Whether the values of all inputs are known.
inline bool knows_all(call& c) {
  for (std::size_t i = 0; i < c.input_count(); ++i)
    if (c.has(i) && c.input(i).data == nullptr) return false;
  return true;
}
/// Returns zero_point + units, rounded half to even and kept within the range; its lower limit for NaN.
std::int64_t stored(float units, std::int64_t zero_point, integer_range range);

/// Output 0 is like input 0, the only one; of floats alone.
void infer_same(call& c);
void infer_same_float(call& c);
/// Keys' cubic convolution (1981) with parameter a, at distance t.
double cubic_kernel(double a, double t);
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

/// Copies `count` elements from place `from` of x to place `to` of y.
inline void copy_elements(const array& x, std::int64_t from, array& y, std::int64_t to, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(size_of(y.type));
  if (count > 0)
    std::memcpy(y.as<std::byte>() + to * size, x.as<std::byte>() + from * size, static_cast<std::size_t>(count * size));
}
/// Visits the indices of `shape` in row-major order: f(i, offset, other), each the sum of index * stride.
template <class F>
void for_each_offset(const shape_t& shape, const shape_t& stride, const shape_t& other_stride, F f) {
  const std::int64_t count = count_of(shape);
  shape_t index(shape.size(), 0);
  std::int64_t offset = 0, other = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    f(i, offset, other);
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += stride[d];
      other += other_stride[d];
      if (++index[d] < shape[d]) break;
      offset -= stride[d] * shape[d];
      other -= other_stride[d] * shape[d];
      index[d] = 0;
    }
  }
}
template <class F>
void for_each_offset(const shape_t& shape, const shape_t& stride, F f) {
  for_each_offset(shape, stride, stride, [&](std::int64_t i, std::int64_t at, std::int64_t) { f(i, at); });
}

/// Visits output 0, to which inputs 0 and 1 are broadcast: f(i, offset in input 0, offset in input 1).
template <class F>
void for_each_pair(const call& c, F f) {
  const shape_t& shape = c.out_shape(0);
  if (c.shape(0) != shape || c.shape(1) != shape)
    return for_each_offset(shape, broadcast_strides(c.shape(0), shape), broadcast_strides(c.shape(1), shape), f);
  for (std::int64_t i = 0, count = count_of(shape); i < count; ++i) f(i, i, i);
}

/// Visits the indices [first, last) of `shape` in row-major order: f(i, index).
template <class F>
void for_each_index(const shape_t& shape, std::int64_t first, std::int64_t last, F f) {
  shape_t index(shape.size(), 0);
  for (std::int64_t i = first; i < last; ++i) {
    std::int64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    f(i, index);
  }
}

/// Calls f(first, stride, length) for every line along `axis`.
template <class F>
void for_each_line(const shape_t& shape, std::size_t axis, F f) {
  const std::int64_t length = shape[axis], stride = count_between(shape, axis + 1, shape.size()),
                     outer = count_between(shape, 0, axis);
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t j = 0; j < stride; ++j) f(i * length * stride + j, stride, length);
}

/// y[i] = x[start + sum of index * stride], index running over `shape` in row-major order.
inline void copy_strided(const array& x, array& y, const shape_t& shape, const shape_t& stride, std::int64_t start) {
  by_type(y.type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for_each_offset(shape, stride, [&](std::int64_t i, std::int64_t at) { y.as<T>()[i] = x.as<T>()[start + at]; });
  });
}

}
