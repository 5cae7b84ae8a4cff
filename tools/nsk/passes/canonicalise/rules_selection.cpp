// SPDX-License-Identifier: MIT
/// What computes or follows indices, on any element type.
#include <algorithm>
#include <limits>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/byte_steps.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

/// Refuses constant indices outside an axis of `length`.
void require_inside(const context& c, std::size_t i, std::int64_t length) {
  const value& index = c.input(i);
  if (!is_computed_integer(index.type)) c.refuse("indices must be int32 or int64; add a Cast in the exporter");
  for (std::int64_t k = 0; index.constant && k < index.constant->count(); ++k) {
    const std::int64_t at = index.constant->integer(k);
    if (at < -length || at >= length)
      c.refuse("index " + std::to_string(at) + " is outside an axis of length " + std::to_string(length));
  }
}

void gather(context& c) {
  const node& n = c.op();
  const shape_t &x = c.in_shape(0), &indices = c.in_shape(1);
  const int axis = c.axis(n.integer("axis", 0), x.size());
  const value& index = c.input(1);
  if (emit_look_up(c)) return;
  require_inside(c, 1, x[static_cast<std::size_t>(axis)]);
  shape_t flat = x;
  flat[static_cast<std::size_t>(axis)] = count_of(indices);
  if (index.constant && flat[static_cast<std::size_t>(axis)] == 1) {  // one known position: a slice
    const std::int64_t at = index.constant->integer(0), length = x[static_cast<std::size_t>(axis)];
    slice_parameters s = whole_slice(x.size());
    s.starts[static_cast<std::size_t>(axis)] = at < 0 ? at + length : at;
    const int part = c.temporary("part", flat, c.in_type(0));
    c.emit(std::move(s), {c.in(0)}, part);
    c.emit(reshape_parameters{}, {part});
    return;
  }
  const int line = reshaped(c, c.in(1), {count_of(indices)});
  if (flat == c.out_shape()) {
    c.emit(gather_parameters{axis, false}, {c.in(0), line});
    return;
  }
  const int picked = c.temporary("picked", flat, c.in_type(0));
  c.emit(gather_parameters{axis, false}, {c.in(0), line}, picked);
  c.emit(reshape_parameters{}, {picked});
}

void gather_elements(context& c) {
  const node& n = c.op();
  const int axis = c.axis(n.integer("axis", 0), c.in_shape(0).size());
  require_inside(c, 1, c.in_shape(0)[static_cast<std::size_t>(axis)]);
  c.emit(gather_parameters{axis, true}, {c.in(0), c.in(1)});
}

void top_k(context& c) {
  const node& n = c.op();
  if (c.in_type(0) != element::f32 && !is_computed_integer(c.in_type(0)))
    c.refuse("TopK has kernels for float32, int32 and int64");
  const int axis = c.axis(n.integer("axis", -1), c.in_shape(0).size());
  const bool positions = c.wants(1);
  const shape_t shape = c.wants(0) ? c.out_shape(0) : c.out_shape(1);
  const int indices = positions ? c.out(1) : c.temporary("positions", shape, element::i64);
  c.emit(top_k_params{axis, n.integer("largest", 1) == 0}, {c.in(0)}, indices);
  if (c.wants(0)) c.emit(gather_parameters{axis, true}, {c.in(0), indices});
}

/// positions == index ? on : off, with the positions 0, 1, ... along the new axis.
void one_hot(context& c) {
  const node& n = c.op();
  const shape_t& indices = c.in_shape(0);
  const shape_t& out = c.out_shape();
  if (!is_computed_integer(c.in_type(0))) c.refuse("OneHot has kernels for int32 and int64 indices");
  const auto axis = static_cast<std::size_t>(c.axis(n.integer("axis", -1), out.size()));
  const std::int64_t depth = out[axis];
  shape_t column(out.size(), 1), wide = indices;
  column[axis] = depth;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  c.charge(static_cast<double>(depth));
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < depth; ++i) positions.push_back(i);
  const element type = c.in_type(0);
  const int wrapped = c.temporary("wrapped", wide, type), index = reshaped(c, c.in(0), wide);
  // negative indices count from the end; those outside match no position
  const int negative = c.temporary("negative", wide, element::boolean), shifted = c.temporary("shifted", wide, type);
  c.emit(compare_params{compare_kind::less}, {index, constant_integers(c, "zero", {}, type, {0})}, negative);
  c.emit(arithmetic_params{arithmetic_kind::add}, {index, constant_integers(c, "depth", {}, type, {depth})}, shifted);
  c.emit(select_params{}, {negative, shifted, index}, wrapped);
  const int hot = c.temporary("hot", out, element::boolean);
  c.emit(compare_params{compare_kind::equal}, {wrapped, constant_integers(c, "positions", column, type, positions)},
         hot);
  const auto value = [&](const char* name, std::int64_t i) {
    const int part = c.temporary(name, {1}, c.in_type(2));
    c.emit(slice_parameters{{i}, {1}}, {c.in(2)}, part);
    return part;
  };
  c.emit(select_params{}, {hot, value("on", 1), value("off", 0)});
}

void non_max_suppression(context& c) {
  const node& n = c.op();
  non_max_suppression_params p;
  const auto given = [&](std::size_t i, const char* what, double fallback) {
    return c.has(i) ? number(c, i, what) : fallback;
  };
  p.most_per_class =
      static_cast<std::uint32_t>(std::clamp<double>(given(2, "max_output_boxes_per_class", 0), 0, 2147483647.0));
  p.iou_threshold = static_cast<float>(given(3, "iou_threshold", 0));
  p.score_threshold = static_cast<float>(given(4, "score_threshold", -std::numeric_limits<double>::infinity()));
  p.center_point_box = n.integer("center_point_box", 0) != 0;
  if (count_of(c.out_shape()) == 0) c.refuse("it keeps no boxes: max_output_boxes_per_class is 0");
  c.emit(p, {c.in(0), c.in(1)});
}

}

void add_selection(rule_table& t) {
  t["Gather"] = {gather, element_types::any};
  t["GatherElements"] = {gather_elements, element_types::any};
  t["TopK"] = {top_k, element_types::any};
  t["OneHot"] = {one_hot, element_types::any};
  t["NonMaxSuppression"] = {non_max_suppression, element_types::any};
}

}
