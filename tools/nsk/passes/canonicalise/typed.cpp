// SPDX-License-Identifier: MIT
/// Operators on any element type, comparisons, and those that compute or follow indices.
#include <algorithm>
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {
namespace {

bool computes(element t) { return t == element::i32 || t == element::i64; }

}

void canonicaliser::cast(const node& n) {
  const element to = m_graph.values[static_cast<std::size_t>(n.outputs[0])].type;
  if (n.op == "CastLike" && (to == element::i8 || to == element::u8))
    refuse_node(n, "its second input is 8 bits wide here, but may have been narrower in the file; use Cast");
  if (to == in_type(n, 0)) return identity(n);
  emit(n, cast_parameters{}, {in(n, 0)});
}

void canonicaliser::compare(const node& n) {
  const bool swaps = n.op.rfind("Greater", 0) == 0, or_equal = n.op.find("OrEqual") != std::string::npos;
  const compare_kind kind = n.op == "Equal" ? compare_kind::equal
                            : or_equal      ? compare_kind::less_equal
                                            : compare_kind::less;
  emit(n, compare_parameters{kind}, {in(n, swaps ? 1 : 0), in(n, swaps ? 0 : 1)});
}

void canonicaliser::logical(const node& n) {
  const arithmetic_kind kind = n.op.find("And") != std::string::npos   ? arithmetic_kind::bit_and
                               : n.op.find("Xor") != std::string::npos ? arithmetic_kind::bit_xor
                                                                       : arithmetic_kind::bit_or;
  if (in_type(n, 0) != element::boolean && !computes(in_type(n, 0)))
    refuse_node(n, "bit operations have kernels for bool, int32 and int64");
  emit(n, arithmetic_parameters{kind}, {in(n, 0), in(n, 1)});
}

void canonicaliser::logical_not(const node& n) {
  emit(n, arithmetic_parameters{arithmetic_kind::bit_xor},
       {in(n, 0), constant_integers(n, "true", {}, element::boolean, {1})});
}

void canonicaliser::where(const node& n) { emit(n, select_parameters{}, {in(n, 0), in(n, 1), in(n, 2)}); }

void canonicaliser::mod(const node& n) {
  if (!integer_arithmetic(n)) refuse_node(n, "Mod has kernels for int32 and int64");
}

/// Max and Min of any number of inputs. What the engine cannot compute in, it compares and selects.
void canonicaliser::extreme(const node& n) {
  const element type = in_type(n, 0);
  if (type == element::f32) return variadic(n);
  if (n.inputs.size() == 1) return identity(n);
  const bool largest = n.op == "Max";
  int best = in(n, 0);
  for (std::size_t i = 1; i < n.inputs.size(); ++i) {
    const int next = in(n, i);
    const shape_t shape = broadcast_shape(best, next);
    const std::string number = std::to_string(i);
    const int result = i + 1 == n.inputs.size() ? of(output_of(n)) : temporary(n, "partial" + number, shape, type);
    if (computes(type)) {
      emit(n, arithmetic_parameters{largest ? arithmetic_kind::max : arithmetic_kind::min}, {best, next}, result);
    } else {
      const int less = temporary(n, "less" + number, shape, element::boolean);
      emit(n, compare_parameters{compare_kind::less}, {best, next}, less);
      emit(n, select_parameters{}, {less, largest ? next : best, largest ? best : next}, result);
    }
    best = result;
  }
}

/// Add, Sub, Mul, Div, Mod, Neg, Abs, Sign and Clip of integers; false for everything else.
bool canonicaliser::integer_arithmetic(const node& n) {
  const element type = in_type(n, 0);
  if (!computes(type)) return false;
  static const std::unordered_map<std::string, arithmetic_kind> table = {{"Add", arithmetic_kind::add},
                                                                         {"Sub", arithmetic_kind::sub},
                                                                         {"Mul", arithmetic_kind::mul},
                                                                         {"Div", arithmetic_kind::div},
                                                                         {"Mod", arithmetic_kind::mod}};
  const auto number = [&](const char* name, std::int64_t v) { return constant_integers(n, name, {}, type, {v}); };
  const int x = in(n, 0);
  if (const auto found = table.find(n.op); found != table.end() && n.inputs.size() == 2) {
    const bool truncates = n.op == "Mod" && n.integer("fmod", 0) != 0;
    emit(n, arithmetic_parameters{truncates ? arithmetic_kind::fmod : found->second}, {x, in(n, 1)});
  } else if (n.op == "Neg" || n.op == "Abs") {
    const int negative = n.op == "Neg" ? of(output_of(n)) : temporary(n, "negative", in_shape(n, 0), type);
    emit(n, arithmetic_parameters{arithmetic_kind::sub}, {number("zero", 0), x}, negative);
    if (n.op == "Abs") emit(n, arithmetic_parameters{arithmetic_kind::max}, {x, negative});
  } else if (n.op == "Sign") {
    const int raised = temporary(n, "raised", in_shape(n, 0), type);
    emit(n, arithmetic_parameters{arithmetic_kind::max}, {x, number("least", -1)}, raised);
    emit(n, arithmetic_parameters{arithmetic_kind::min}, {raised, number("most", 1)});
  } else if (n.op == "Clip") {
    int y = x;
    for (const std::size_t i : {1, 2}) {
      if (!present(n, i)) continue;
      const int clipped = temporary(n, i == 1 ? "above" : "below", in_shape(n, 0), type);
      emit(n, arithmetic_parameters{i == 1 ? arithmetic_kind::max : arithmetic_kind::min},
           {y, reshaped(n, in(n, i), {})}, clipped);
      y = clipped;
    }
    emit(n, reshape_parameters{}, {y});
  } else {
    return false;
  }
  return true;
}

void canonicaliser::require_inside(const node& n, std::size_t i, std::int64_t length) const {
  const value& index = m_graph.values[static_cast<std::size_t>(n.inputs[i])];
  if (!computes(index.type)) refuse_node(n, "indices must be int32 or int64; add a Cast in the exporter");
  for (std::int64_t k = 0; index.constant && k < index.constant->count(); ++k) {
    const std::int64_t at = index.constant->integer(k);
    if (at < -length || at >= length)
      refuse_node(n, "index " + std::to_string(at) + " lies outside an axis of length " + std::to_string(length));
  }
}

void canonicaliser::gather(const node& n) {
  const shape_t &x = in_shape(n, 0), &indices = in_shape(n, 1);
  const int axis = axis_of(n, n.integer("axis", 0), x.size());
  const value& index = m_graph.values[static_cast<std::size_t>(n.inputs[1])];
  require_inside(n, 1, x[static_cast<std::size_t>(axis)]);
  shape_t flat = x;
  flat[static_cast<std::size_t>(axis)] = count_of(indices);
  if (index.constant && flat[static_cast<std::size_t>(axis)] == 1) {  // one known position: a slice
    const std::int64_t at = index.constant->integer(0), length = x[static_cast<std::size_t>(axis)];
    slice_parameters s{std::vector<std::int64_t>(x.size(), 0), std::vector<std::int64_t>(x.size(), 1)};
    s.starts[static_cast<std::size_t>(axis)] = at < 0 ? at + length : at;
    const int part = temporary(n, "part", flat, in_type(n, 0));
    emit(n, std::move(s), {in(n, 0)}, part);
    emit(n, reshape_parameters{}, {part});
    return;
  }
  const int line = reshaped(n, in(n, 1), {count_of(indices)});
  if (flat == out_shape(n)) {
    emit(n, gather_parameters{axis, false}, {in(n, 0), line});
    return;
  }
  const int picked = temporary(n, "picked", flat, in_type(n, 0));
  emit(n, gather_parameters{axis, false}, {in(n, 0), line}, picked);
  emit(n, reshape_parameters{}, {picked});
}

void canonicaliser::gather_elements(const node& n) {
  const int axis = axis_of(n, n.integer("axis", 0), in_shape(n, 0).size());
  require_inside(n, 1, in_shape(n, 0)[static_cast<std::size_t>(axis)]);
  emit(n, gather_parameters{axis, true}, {in(n, 0), in(n, 1)});
}

void canonicaliser::arg_reduce(const node& n) {
  if (in_type(n, 0) != element::f32 && !computes(in_type(n, 0)))
    refuse_node(n, "ArgMax and ArgMin have kernels for float32, int32 and int64");
  arg_reduce_parameters a;
  a.axis = axis_of(n, n.integer("axis", 0), in_shape(n, 0).size());
  a.kind = n.op == "ArgMax" ? arg_reduce_kind::max : arg_reduce_kind::min;
  a.last = n.integer("select_last_index", 0) != 0;
  shape_t kept = in_shape(n, 0);
  kept[static_cast<std::size_t>(a.axis)] = 1;
  if (kept == out_shape(n)) {
    emit(n, a, {in(n, 0)});
    return;
  }
  const int result = temporary(n, "kept", kept, element::i64);
  emit(n, a, {in(n, 0)}, result);
  emit(n, reshape_parameters{}, {result});
}

void canonicaliser::top_k(const node& n) {
  if (in_type(n, 0) != element::f32 && !computes(in_type(n, 0)))
    refuse_node(n, "TopK has kernels for float32, int32 and int64");
  const int axis = axis_of(n, n.integer("axis", -1), in_shape(n, 0).size());
  const bool positions = n.outputs.size() > 1 && n.outputs[1] != no_value;
  const shape_t shape = n.outputs[0] != no_value ? out_shape(n, 0) : out_shape(n, 1);
  const int indices = positions ? of(n.outputs[1]) : temporary(n, "positions", shape, element::i64);
  emit(n, top_k_parameters{axis, n.integer("largest", 1) == 0}, {in(n, 0)}, indices);
  if (n.outputs[0] != no_value) emit(n, gather_parameters{axis, true}, {in(n, 0), indices});
}

/// positions == index ? on : off, with the positions 0, 1, ... along the new axis.
void canonicaliser::one_hot(const node& n) {
  const shape_t& indices = in_shape(n, 0);
  const shape_t& out = out_shape(n);
  if (!computes(in_type(n, 0))) refuse_node(n, "OneHot has kernels for int32 and int64 indices");
  const auto axis = static_cast<std::size_t>(axis_of(n, n.integer("axis", -1), out.size()));
  const std::int64_t depth = out[axis];
  shape_t column(out.size(), 1), wide = indices;
  column[axis] = depth;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  charge(n, static_cast<double>(depth));
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < depth; ++i) positions.push_back(i);
  const element type = in_type(n, 0);
  const int wrapped = temporary(n, "wrapped", wide, type), index = reshaped(n, in(n, 0), wide);
  // negative indices count from the end; those outside match no position
  const int negative = temporary(n, "negative", wide, element::boolean), shifted = temporary(n, "shifted", wide, type);
  emit(n, compare_parameters{compare_kind::less}, {index, constant_integers(n, "zero", {}, type, {0})}, negative);
  emit(n, arithmetic_parameters{arithmetic_kind::add}, {index, constant_integers(n, "depth", {}, type, {depth})},
       shifted);
  emit(n, select_parameters{}, {negative, shifted, index}, wrapped);
  const int hot = temporary(n, "hot", out, element::boolean);
  emit(n, compare_parameters{compare_kind::equal},
       {wrapped, constant_integers(n, "positions", column, type, positions)}, hot);
  const auto value = [&](const char* name, std::int64_t i) {
    const int part = temporary(n, name, {1}, in_type(n, 2));
    emit(n, slice_parameters{{i}, {1}}, {in(n, 2)}, part);
    return part;
  };
  emit(n, select_parameters{}, {hot, value("on", 1), value("off", 0)});
}

void canonicaliser::non_max_suppression(const node& n) {
  non_max_suppression_parameters p;
  const auto given = [&](std::size_t i, const char* what, double fallback) {
    return present(n, i) ? number(n, i, what) : fallback;
  };
  p.most_per_class =
      static_cast<std::uint32_t>(std::clamp<double>(given(2, "max_output_boxes_per_class", 0), 0, 2147483647.0));
  p.iou_threshold = static_cast<float>(given(3, "iou_threshold", 0));
  p.score_threshold = static_cast<float>(given(4, "score_threshold", -std::numeric_limits<double>::infinity()));
  p.center_point_box = n.integer("center_point_box", 0) != 0;
  if (count_of(out_shape(n)) == 0) refuse_node(n, "it keeps no boxes: max_output_boxes_per_class is 0");
  emit(n, p, {in(n, 0), in(n, 1)});
}

}
