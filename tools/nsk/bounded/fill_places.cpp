// SPDX-License-Identifier: MIT
/// Moves, indices and choices with unused places.
#include <algorithm>
#include <numeric>

#include "bounded/fill.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::bounded {
namespace {

/// Indices along an axis: negative ones count from its last used element, and what is behind that is behind the axis,
/// which raises a flag. Unused indices are 0. `used` and `length` are numbers, or lists of one per coordinate.
value_id checked_indices(filler& f, value_id indices, value_id used, value_id length) {
  const element type = f.made(indices).type;
  const value_id end = f.cast(used, type), zero = f.integers({}, {0}, type), from_end = f.emit("Add", {indices, end}),
                 counted = f.emit("Where", {f.emit("Less", {indices, zero}), from_end, indices}),
                 inside = f.emit("Less", {counted, end}),
                 checked = f.emit("Where", {inside, counted, f.cast(length, type)});
  return f.masked_like(checked, indices, zero);
}

/// Indices of an axis all of whose elements are used.
value_id plain_indices(filler& f, std::size_t i) {
  const value_id indices = f.input(i);
  return f.at().picks(i) ? indices : f.masked(indices, f.integers({}, {0}, f.made(indices).type));
}

void gather_along(filler& f, std::size_t axis) {
  std::vector<value_id> inputs = f.op().inputs;
  const amount used = f.at().axes(0)[axis];
  if (!used.varies())
    inputs[1] = plain_indices(f, 1);
  else
    inputs[1] = checked_indices(f, inputs[1], f.value_of(used), f.integers({}, {f.made(inputs[0]).shape[axis]}));
  f.place_with(inputs);
}

/// One more element along `axis`, into which unused places are written; the result is without it.
void scatter_with_spare(filler& f, std::size_t axis, value_id indices) {
  const value_id data = f.input(0), result = f.op().outputs[0];
  shape_t line = f.made(data).shape;
  const i64 length = line[axis];
  line[axis] = 1;
  std::vector<value_id> inputs = f.op().inputs;
  inputs[0] = f.emit("Concat", {data, f.constant(array(f.made(data).type, line))}, {{"axis", static_cast<i64>(axis)}});
  inputs[1] = indices;
  node scatter = f.op();
  scatter.inputs = inputs;
  const value_id written = f.new_value(scatter.name + "/longer", f.made(data).type, shape_t(f.made(inputs[0]).shape));
  scatter.outputs[0] = written;
  f.place(std::move(scatter));
  f.slice(written, axis, 0, length, result);
}

}

/// Operands that say lengths become constants: what they are at most.
void fill_with_constants(filler& f) {
  std::vector<value_id> inputs = f.op().inputs;
  for (value_id& v : inputs)
    if (const auto a = v == no_value ? nullptr : f.known().maximum_of(f.op(), v)) v = f.constant(*a);
  f.place_with(inputs);
}

void fill_slice(filler& f) { fill_with_constants(f); }

/// Where unused elements come before others, the used ones are moved together.
void fill_concat(filler& f) {
  const node& n = f.op();
  const std::size_t axis = f.at().axis(n.integer("axis", 1), f.at().out_shape().size());
  bool ends = false, gap = false;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    gap = gap || ends;
    ends = ends || f.at().axes(i)[axis].varies();
  }
  if (!gap) return f.place(n);
  std::vector<value_id> masks;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const i64 length = f.made(n.inputs[i]).shape[axis];
    masks.push_back(f.is_used(f.at().axes(i)[axis], length, 0, 1));
  }
  const value_id all = f.emit("Concat", n.inputs, {{"axis", static_cast<i64>(axis)}}),
                 used = f.emit("Concat", masks, {{"axis", i64{0}}});
  f.emit("Compress", {all, used},
         {{"axis", static_cast<i64>(axis)}, {reference::suppression_bound, f.at().out_shape()[axis]}}, n.outputs[0]);
}

/// Places behind the last used one hold what is padded with.
void fill_pad(filler& f) {
  const node& n = f.op();
  const pad_widths pads = pads_of(f.at());
  std::vector<bool> padded(f.at().rank(0), false);
  for (std::size_t d = 0; d < padded.size(); ++d) padded[d] = pads.before[d] != 0 || pads.after[d] != number(0);
  std::vector<value_id> inputs = n.inputs;
  if (f.varies(inputs[0], padded)) {
    value_id other = f.at().has(2) ? f.reshaped(inputs[2], {}) : f.neutral_of(f.made(inputs[0]).type, neutral::zero);
    if (n.version < 11) {
      array a(f.made(inputs[0]).type, {});
      a.set(0, static_cast<double>(n.number("value", 0)));
      other = f.constant(std::move(a));
    }
    inputs[0] = f.masked(inputs[0], padded, other);
  }
  if (const auto a = n.version < 11 ? nullptr : f.known().maximum_of(n, inputs[1])) inputs[1] = f.constant(*a);
  f.place_with(inputs);
}

/// Known numbers in used places, 0 in the others: no constant, which nothing would fold any more.
void place_known(filler& f, array numbers) {
  const value_id result = f.op().outputs[0];
  const std::vector<amount> axes = f.at().axes_of_result(0);
  const value_id zero = f.neutral_of(numbers.type, neutral::zero);
  std::vector<std::size_t> varying;
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (axes[d].varies()) varying.push_back(d);
  value_id made = f.constant(numbers);
  for (const std::size_t d : varying)
    made = f.emit("Where", {f.is_used(axes[d], numbers.shape[d], d, axes.size()), made, zero}, {},
                  d == varying.back() ? result : no_value);
}

void fill_constant_of_shape(filler& f) {
  const node& n = f.op();
  const value& y = f.made(n.outputs[0]);
  array a(y.type, y.shape);
  const auto given = n.attributes.find("value");
  const array* value = given == n.attributes.end() ? nullptr : std::get_if<array>(&given->second);
  for (i64 i = 0; value != nullptr && i < a.count(); ++i)
    is_float(a.type) ? a.set(i, value->number(0)) : a.set_integer(i, value->integer(0));
  place_known(f, std::move(a));
}

void fill_range(filler& f) {
  const node& n = f.op();
  if (!chooses(n)) {
    const value& y = f.made(n.outputs[0]);
    array a(y.type, y.shape);
    const i64 start = f.at().numbers(0).at(0).plus;
    for (i64 i = 0; i < a.count(); ++i) a.set_integer(i, start + i);
    return place_known(f, std::move(a));
  }
  node counting = n;
  const value_id count = f.length_output(n.outputs[0]);
  f.made(count).set(element::i64, {});
  counting.outputs = {n.outputs[0], count};
  f.place(std::move(counting));
  f.note_source(count);
}

void fill_gather(filler& f) { gather_along(f, f.at().axis(f.op().integer("axis", 0), f.at().rank(0))); }

void fill_gather_elements(filler& f) { fill_gather(f); }

void fill_gather_nd(filler& f) {
  const std::vector<amount> x = f.at().axes(0);
  const auto coordinates = static_cast<std::size_t>(f.at().axes(1).back().plus);
  std::vector<value_id> inputs = f.op().inputs, used;
  std::vector<i64> lengths;
  bool varies = false;
  for (std::size_t d = 0; d < coordinates; ++d) {
    varies = varies || x[d].varies();
    lengths.push_back(f.made(inputs[0]).shape[d]);
  }
  if (!varies) {
    inputs[1] = plain_indices(f, 1);
    return f.place_with(inputs);
  }
  for (std::size_t d = 0; d < coordinates; ++d) used.push_back(f.reshaped(f.value_of(x[d]), {1}));
  const shape_t each = {static_cast<i64>(coordinates)};
  inputs[1] = checked_indices(f, inputs[1], used.size() == 1 ? used[0] : f.emit("Concat", used, {{"axis", i64{0}}}),
                              f.integers(each, lengths));
  f.place_with(inputs);
}

void fill_scatter(filler& f) {
  const node& n = f.op();
  const value_id indices = n.inputs[1];
  if (!f.known().is_bounded(indices)) return f.place(n);
  const element type = f.made(indices).type;
  const bool elements = n.op != "ScatterND";
  const std::size_t axis = elements ? f.at().axis(n.integer("axis", 0), f.at().rank(0)) : 0;
  const shape_t each = elements ? shape_t{} : shape_t{f.made(indices).shape.back()};
  std::vector<i64> first(static_cast<std::size_t>(count_of(each)), 0);
  first[0] = f.made(n.inputs[0]).shape[axis];
  const value_id spare = f.integers(each, first, type),
                 counted = f.emit("Where", {f.emit("Less", {indices, f.integers({}, {0}, type)}),
                                            f.emit("Add", {indices, spare}), indices});
  scatter_with_spare(f, axis, f.masked_like(counted, indices, spare));
}

void fill_regions(filler& f) {
  std::vector<value_id> inputs = f.op().inputs;
  inputs[2] = f.masked(inputs[2], f.integers({}, {0}, f.made(inputs[2]).type));
  f.place_with(inputs);
}

void fill_chosen(filler& f) {
  const node& n = f.op();
  std::vector<value_id> inputs = n.inputs;
  value_id& condition = inputs[n.op == "Compress" ? 1 : 0];
  if (f.known().is_bounded(condition)) {
    array no(element::boolean, {});
    const value_id from = condition;
    condition = f.masked_like(f.cast(from, element::boolean), from, f.constant(std::move(no)));
  }
  f.note_source(condition);
  f.place_with(inputs);
}

void fill_unique(filler& f) {
  node n = f.op();
  constexpr std::size_t groups = 2;
  n.outputs.resize(std::max(n.outputs.size(), groups + 1), no_value);
  if (n.outputs[groups] == no_value) {
    const shape_t& x = f.at().shape(0);
    const i64 length = n.has("axis") ? x[f.at().axis(n.integer("axis", 0), x.size())] : count_of(x);
    n.outputs[groups] = f.new_value(n.name + "/groups", element::i64, {length});
  }
  f.note_source(n.outputs[groups]);
  f.place(std::move(n));
}

/// Scores that are not above the threshold, and those of no box, are below all others. The operator itself takes
/// thresholds that are constant.
void fill_suppression(filler& f) {
  constexpr std::size_t limit = 2, threshold = 4;
  std::vector<value_id> inputs = f.op().inputs;
  const value_id none = f.neutral_of(element::f32, neutral::lowest);
  inputs[1] = f.masked(inputs[1], none);
  if (f.at().has(limit))
    if (const auto a = f.known().maximum_of(f.op(), inputs[limit])) inputs[limit] = f.constant(*a);
  if (f.at().has(threshold) && !f.made(inputs[threshold]).constant) {
    const value_id above = f.emit("Less", {f.reshaped(inputs[threshold], {}), inputs[1]});
    inputs[1] = f.emit("Where", {above, inputs[1], none});
    inputs[threshold] = no_value;
  }
  f.note_source(f.op().outputs[0]);
  f.place_with(inputs);
}

void fill_numbers(filler& f) { f.place(f.op()); }

}
