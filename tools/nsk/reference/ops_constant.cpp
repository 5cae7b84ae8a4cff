// SPDX-License-Identifier: MIT
/// Constants, and what is made of constants.
#include <cmath>
#include <optional>

#include "graph/onnx_type.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

// Constants.

array constant_of(const call& c) {
  const node& n = c.op();
  if (n.attributes.size() != 1) c.fail("it must have exactly one attribute");
  const auto& [key, value] = *n.attributes.begin();
  if (const auto* a = std::get_if<array>(&value); a && key == "value") return *a;
  if (key == "value_int") return make_ints({}, {n.integer(key, 0)});
  if (key == "value_float") return make_floats({}, {n.number(key, 0)});
  if (key == "value_ints") return make_ints({static_cast<i64>(n.integers(key).size())}, n.integers(key));
  if (const auto* list = std::get_if<std::vector<float>>(&value); list && key == "value_floats")
    return make_floats({static_cast<i64>(list->size())}, *list);
  c.fail("attribute '" + key + "' is not supported: strings and sparse tensors have no use here");
}

void infer_constant(call& c) {
  c.require_inputs(0, 0);
  const array a = constant_of(c);
  c.declare(0, a.type, a.shape);
}

void evaluate_constant(call& c) { c.out(0) = hold(constant_of(c)).data; }

array fill_value(const call& c) {
  const auto found = c.op().attributes.find("value");
  if (found == c.op().attributes.end()) return make_floats({1}, {0});
  const auto* a = std::get_if<array>(&found->second);
  c.require(a != nullptr && a->count() == 1, "attribute 'value' must be a tensor of one element");
  return *a;
}

void infer_constant_of_shape(call& c) {
  c.require_inputs(1, 1);
  c.declare(0, fill_value(c).type, c.integer_list(0));
}

void evaluate_constant_of_shape(call& c) {
  const array value = hold(fill_value(c)).data;
  copy_strided(value, c.out(0), c.out_shape(0), shape_t(c.out_shape(0).size(), 0), 0);
}

void infer_eye_like(call& c) {
  c.require_inputs(1, 1);
  c.require_rank(0, 2, 2);
  const i64 dtype = c.op().integer("dtype", 0);
  const std::optional<element> type = dtype == 0 ? c.type(0) : element_of_onnx(dtype);
  if (!type || *type == element::string || is_narrow(dtype))
    c.fail("a result of type " + onnx_type_name(dtype) + " is not supported");
  c.declare(0, *type, c.shape(0));
}

/// 1 on the diagonal that begins `k` columns to the right.
void evaluate_eye_like(call& c) {
  array& y = c.out(0);
  const i64 rows = c.out_shape(0)[0], columns = c.out_shape(0)[1], k = c.op().integer("k", 0);
  for (i64 r = 0; r < rows; ++r)
    for (i64 column = 0; column < columns; ++column) y.set(r * columns + column, column - r == k ? 1 : 0);
}

/// Elements of a Range; below 0 where it runs the other way.
double length_of_range(const call& c) { return std::ceil((c.scalar(1) - c.scalar(0)) / c.scalar(2)); }

/// Elements of a Range, at most `bound`; 0 where no number of steps leads there.
i64 bounded_length(const call& c, i64 bound) {
  const double length = length_of_range(c), difference = c.scalar(1) - c.scalar(0);
  const bool exists = c.scalar(2) != 0 && std::isfinite(difference) && length > 0;
  return !exists ? 0 : length < static_cast<double>(bound) ? static_cast<i64>(length) : bound;
}

void infer_range(call& c) {
  c.require_inputs(3, 3);
  c.require(c.type(0) == c.type(1) && c.type(0) == c.type(2) && c.type(0) != element::boolean,
            "all inputs must have the same number type");
  if (const i64 bound = c.op().integer(suppression_bound, -1); bound >= 0) {
    for (std::size_t i = 0; i < 3; ++i) c.require(count_of(c.shape(i)) == 1, "all inputs must be one number");
    return c.declare(0, c.type(0), {knows_all(c) ? bounded_length(c, bound) : bound});
  }
  const double length = length_of_range(c);
  c.require(c.scalar(2) != 0 && length < 1e12, "the range is endless or longer than 10^12");
  c.declare(0, c.type(0), {length > 0 ? static_cast<i64>(length) : 0});
}

void evaluate_range(call& c) {
  const i64 count = c.out(0).count();
  for (i64 i = 0; i < count; ++i) {
    if (c.out(0).type == element::f64)
      c.out_floats()[i] = c.scalar(0) + static_cast<double>(i) * c.scalar(2);
    else
      c.out_integers()[i] = plus(c.integer_scalar(0), times(i, c.integer_scalar(2)));
  }
}

/// The length of one axis, of what an evaluation has.
void infer_length(call& c) {
  c.require_inputs(1, 1);
  static_cast<void>(c.axis(c.op().integer("axis", 0), c.rank(0)));
  c.declare(0, element::i64, {});
}

void evaluate_length(call& c) { c.out_integers()[0] = c.shape(0)[c.axis(c.op().integer("axis", 0), c.rank(0))]; }

}

void add_constant(table& t) {
  t["Constant"] = {infer_constant, evaluate_constant};
  t["ConstantOfShape"] = {infer_constant_of_shape, evaluate_constant_of_shape, 9};
  t["EyeLike"] = {infer_eye_like, evaluate_eye_like, 9};
  t["Range"] = {infer_range, evaluate_range, 11};
  t["nsk.Length"] = {infer_length, evaluate_length};
}

}
