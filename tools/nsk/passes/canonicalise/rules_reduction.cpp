// SPDX-License-Identifier: MIT
/// Softmax and reductions along axes.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

void softmax(context& c) {
  const node& n = c.op();
  const shape_t x = c.in_shape(0);
  const bool flattens = n.version < 13;  // until opset 13 all axes from `axis` on were one
  const std::int64_t wanted = n.integer("axis", flattens ? 1 : -1), rank = static_cast<std::int64_t>(x.size());
  const bool behind = x.empty() || (flattens && wanted == rank);
  const int axis = behind ? static_cast<int>(rank) : c.axis(wanted, x.size());
  softmax_params s{axis, n.op == "LogSoftmax"};
  const bool inside = axis < static_cast<int>(x.size());  // else a line of one element
  const bool one_axis = inside && std::all_of(x.begin() + axis + 1, x.end(), [](std::int64_t d) { return d == 1; });
  if (inside && (!flattens || one_axis)) {
    c.emit(s, {c.in(0)});
    return;
  }
  const shape_t flat = {count_of({x.begin(), x.begin() + axis}), count_of({x.begin() + axis, x.end()})};
  const int view = reshaped(c, c.in(0), flat), result = c.temporary("flat", flat);
  s.axis = 1;
  c.emit(s, {view}, result);
  c.emit(reshape_parameters{}, {result});
}

/// Hardmax: 1 at the first maximum. Its position, compared with all positions.
void hardmax(context& c) {
  const node& n = c.op();
  const shape_t x = c.in_shape(0);
  const bool flattens = n.version < 13;
  const std::int64_t wanted = n.integer("axis", flattens ? 1 : -1), rank = static_cast<std::int64_t>(x.size());
  if (x.empty() || (flattens && wanted == rank)) return c.refuse("it has no axis; its result is 1");
  const int given = c.axis(wanted, x.size());
  const bool flat = flattens && given + 1 < static_cast<int>(rank);
  const shape_t shape =
      flat ? shape_t{count_of({x.begin(), x.begin() + given}), count_of({x.begin() + given, x.end()})} : x;
  const int axis = flat ? 1 : given, view = reshaped(c, c.in(0), shape);
  shape_t kept = shape, line(shape.size(), 1);
  kept[static_cast<std::size_t>(axis)] = 1;
  const std::int64_t length = line[static_cast<std::size_t>(axis)] = shape[static_cast<std::size_t>(axis)];
  std::vector<std::int64_t> positions;
  c.charge(static_cast<double>(length));
  for (std::int64_t i = 0; i < length; ++i) positions.push_back(i);
  const int best = c.temporary("best", kept, element::i64), marks = c.temporary("marks", shape, element::boolean);
  const int narrow = c.temporary("narrow", kept, element::i32);  // twice as many fit into a vector
  c.emit(arg_reduce_params{axis, arg_reduce_kind::max, false}, {view}, best);
  c.emit(cast_params{}, {best}, narrow);
  c.emit(compare_params{compare_kind::equal},
         {narrow, constant_integers(c, "positions", line, element::i32, positions)}, marks);
  const int result = c.temporary("numbers", shape);
  c.emit(cast_params{}, {marks}, result);
  c.emit(reshape_parameters{}, {result});
}

/// f of all elements along an axis, which keeps length 1: the halves of the axis with each other, and so on. For
/// functions whose order does not matter.
template <class F>
int folded(context& c, int x, std::size_t axis, F f) {
  std::vector<int> rest;
  for (std::int64_t length = c.shape(x)[axis]; length > 1; length /= 2) {
    const std::int64_t half = length / 2;
    const std::string suffix = "axis" + std::to_string(axis) + "_" + std::to_string(half);
    if (length % 2 != 0) rest.push_back(part(c, x, axis, length - 1, 1, suffix + "_rest"));
    x = f(part(c, x, axis, 0, half, suffix + "_first"), part(c, x, axis, half, half, suffix + "_second"), suffix);
  }
  for (std::size_t i = 0; i < rest.size(); ++i)
    x = f(x, rest[i], "axis" + std::to_string(axis) + "_odd" + std::to_string(i));
  return x;
}

constexpr std::int64_t long_line = 32;

/// The largest or smallest integer along the last axis, which keeps length 1: the element where it is. That reads lines
/// twice, where folding long ones in halves moves all elements twice.
int extreme_of_lines(context& c, bool largest, int x) {
  shape_t kept = c.shape(x);
  kept.back() = 1;
  const int axis = static_cast<int>(kept.size()) - 1, best = c.temporary("best", kept, element::i64),
            result = c.temporary("extreme", kept, c.type(x));
  c.emit(arg_reduce_params{axis, largest ? arg_reduce_kind::max : arg_reduce_kind::min, false}, {x}, best);
  c.emit(gather_parameters{axis, true}, {x, best}, result);
  return result;
}

/// The axes of a reduction; empty where it reduces none.
std::vector<int> reduced_axes(context& c) {
  const node& n = c.op();
  const std::size_t rank = c.in_shape(0).size();
  const std::vector<std::int64_t> given = c.has(1) ? integers(c, 1, "axes") : n.integers("axes");
  std::vector<int> axes;
  for (const std::int64_t a : given) axes.push_back(c.axis(a, rank));
  if (given.empty() && n.integer("noop_with_empty_axes", 0) == 0)
    for (std::size_t a = 0; a < rank; ++a) axes.push_back(static_cast<int>(a));
  return axes;
}

/// Reductions of integers, and maxima and minima of whatever can be compared. Sums and products wrap; means are divided
/// towards zero.
void reduce_integers(context& c) {
  const std::string& op = c.op().op;
  const element type = c.in_type(0);
  const bool extreme = op == "ReduceMax" || op == "ReduceMin";
  if (!extreme && !is_computed_integer(type)) c.refuse(op + " has kernels for float32, int32 and int64");
  int x = c.in(0);
  if (op == "ReduceSumSquare") x = combine(c, arithmetic_kind::mul, x, x, "squares");
  if (op == "ReduceL1") {
    const int zero = constant_integers(c, "zero", {}, type, {0});
    x = combine(c, arithmetic_kind::max, x, combine(c, arithmetic_kind::sub, zero, x, "negative"), "magnitudes");
  }
  std::int64_t count = 1;
  for (const int axis : reduced_axes(c)) {
    const auto a = static_cast<std::size_t>(axis);
    count *= c.shape(x)[a];
    if (extreme && is_computed_integer(type) && a + 1 == c.shape(x).size() && c.shape(x)[a] >= long_line) {
      x = extreme_of_lines(c, op == "ReduceMax", x);
      continue;
    }
    x = folded(c, x, a, [&](int p, int q, const std::string& suffix) {
      if (extreme) return extreme_of(c, op == "ReduceMax", p, q, suffix);
      return combine(c, op == "ReduceProd" ? arithmetic_kind::mul : arithmetic_kind::add, p, q, suffix);
    });
  }
  if (op == "ReduceMean")
    x = combine(c, arithmetic_kind::div, x, constant_integers(c, "count", {}, type, {count}), "mean");
  c.emit(reshape_parameters{}, {x});
}

void reduce(context& c) {
  if (c.in_type(0) != element::f32) return reduce_integers(c);
  const node& n = c.op();
  static const std::unordered_map<std::string, reduce_kind> table = {
      {"ReduceMean", reduce_kind::mean}, {"ReduceSum", reduce_kind::sum},
      {"ReduceMax", reduce_kind::max},   {"ReduceMin", reduce_kind::min},
      {"ReduceProd", reduce_kind::prod}, {"ReduceSumSquare", reduce_kind::sum_square}};
  reduce_parameters r;
  r.kind = table.at(n.op);
  r.axes = reduced_axes(c);
  if (r.axes.empty() && n.integer("noop_with_empty_axes", 0) != 0) {
    if (n.op == "ReduceSumSquare") c.refuse("it reduces no axis; replace it by its elementwise part");
    return identity(c);
  }
  shape_t kept = c.in_shape(0);
  for (const int a : r.axes) kept[static_cast<std::size_t>(a)] = 1;
  if (kept == c.out_shape()) {
    c.emit(std::move(r), {c.in(0)});
    return;
  }
  const int result = c.temporary("kept", kept);
  c.emit(std::move(r), {c.in(0)}, result);
  c.emit(reshape_parameters{}, {result});
}

/// ReduceL1, ReduceL2, ReduceLogSum and ReduceLogSumExp.
void reduce_of(context& c) {
  const node& n = c.op();
  const std::vector<int> axes = reduced_axes(c);
  if (axes.empty() && n.integer("noop_with_empty_axes", 0) != 0)
    c.refuse("it reduces no axis; replace it by its elementwise part");
  int x = c.in(0);
  if (n.op == "ReduceL1") x = reduced(c, reduce_kind::sum, apply(c, x, function::abs, "abs"), axes, "sum");
  if (n.op == "ReduceL2") x = apply(c, reduced(c, reduce_kind::sum_square, x, axes, "squares"), function::sqrt, "root");
  if (n.op == "ReduceLogSum") x = apply(c, reduced(c, reduce_kind::sum, x, axes, "sum"), function::log, "log");
  if (n.op == "ReduceLogSumExp") {
    // what is subtracted is finite, so that infinities neither cancel nor become NaN
    constexpr double max_float = std::numeric_limits<float>::max();
    const int top =
        apply(c, reduced(c, reduce_kind::max, x, axes, "max"), function::clip, "finite", -max_float, max_float);
    const int powers = apply(c, combine(c, binary_kind::sub, x, top, "shifted"), function::exp, "exp");
    const int log = apply(c, reduced(c, reduce_kind::sum, powers, axes, "sum"), function::log, "log");
    x = combine(c, binary_kind::add, log, top, "unshifted");
  }
  c.emit(reshape_parameters{}, {x});
}

void arg_reduce(context& c) {
  const node& n = c.op();
  const element type = c.in_type(0);
  const bool bytes = type == element::u8 || type == element::i8;
  if (type != element::f32 && !is_computed_integer(type) && !bytes)
    c.refuse("ArgMax and ArgMin have kernels for float32, int32, int64, uint8 and int8");
  int x = c.in(0);
  if (bytes && !c.computes_bytes()) {
    x = c.temporary("wide", c.in_shape(0));
    c.emit(cast_params{}, {c.in(0)}, x);
  }
  arg_reduce_params a;
  a.axis = c.axis(n.integer("axis", 0), c.in_shape(0).size());
  a.kind = n.op == "ArgMax" ? arg_reduce_kind::max : arg_reduce_kind::min;
  a.last = n.integer("select_last_index", 0) != 0;
  shape_t kept = c.in_shape(0);
  kept[static_cast<std::size_t>(a.axis)] = 1;
  if (kept == c.out_shape()) {
    c.emit(a, {x});
    return;
  }
  const int result = c.temporary("kept", kept, element::i64);
  c.emit(a, {x}, result);
  c.emit(reshape_parameters{}, {result});
}

}

void add_reduction(rule_table& t) {
  t["Softmax"] = {softmax};
  t["LogSoftmax"] = {softmax};
  t["Hardmax"] = {hardmax};
  add_rows(t, {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare"},
           {reduce, element_types::any});
  t["ReduceL1"] = {reduce_of, element_types::float32, reduce_integers};
  add_rows(t, {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"}, {reduce_of});
  t["ArgMax"] = {arg_reduce, element_types::any};
  t["ArgMin"] = {arg_reduce, element_types::any};
}

}
