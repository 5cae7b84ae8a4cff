// SPDX-License-Identifier: MIT
/// Operators that follow indices, or choose. Indices may count from the last used element; unused ones point at what is
/// there.
#include <algorithm>
#include <limits>

#include "bounded/fill.hpp"
#include "errors.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::bounded {
namespace {

constexpr i64 max_rows = i64{1} << 24;  // float32 counts so far

std::vector<amount> joined(const std::vector<amount>& a, std::size_t first, std::size_t last,
                           const std::vector<amount>& b, std::size_t first_b, std::size_t last_b) {
  std::vector<amount> all(a.begin() + static_cast<std::ptrdiff_t>(first),
                          a.begin() + static_cast<std::ptrdiff_t>(last));
  all.insert(all.end(), b.begin() + static_cast<std::ptrdiff_t>(first_b),
             b.begin() + static_cast<std::ptrdiff_t>(last_b));
  return all;
}

void follow_gather(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1);
  const std::size_t axis = r.axis(r.op().integer("axis", 0), x.size());
  std::vector<amount> axes = joined(x, 0, axis, at, 0, at.size());
  axes.insert(axes.end(), x.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.end());
  r.result(0, axes, !x[axis].varies() && r.input(1).constant && r.picks(0));
}

void follow_gather_elements(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1);
  const std::size_t axis = r.axis(r.op().integer("axis", 0), x.size());
  for (std::size_t d = 0; d < x.size(); ++d)
    if (d != axis && x[d].varies() && x[d] != at[d]) r.refuse(0, "indices have another number of rows");
  r.result(0, at);
}

void follow_gather_nd(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1);
  if (r.op().integer("batch_dims", 0) != 0) r.refuse("batch_dims is not 0");
  if (at.empty() || at.back().varies()) r.refuse(1, "an index would have as many coordinates");
  r.result(0, joined(at, 0, at.size() - 1, x, static_cast<std::size_t>(at.back().plus), x.size()));
}

void follow_scatter_elements(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1), updates = r.axes(2);
  const std::size_t axis = r.axis(r.op().integer("axis", 0), x.size());
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d] != updates[d]) r.refuse("indices and updates are of different numbers");
    if (d != axis && x[d].varies() && x[d] != at[d]) r.refuse(0, "indices have another number of rows");
  }
  if (x[axis].varies()) r.refuse(0, "places along them are written");
  r.result(0, x);
}

void follow_scatter_nd(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1), updates = r.axes(2);
  if (at.empty() || at.back().varies()) r.refuse(1, "an index would have as many coordinates");
  const auto coordinates = static_cast<std::size_t>(at.back().plus);
  if (joined(at, 0, at.size() - 1, x, coordinates, x.size()) != updates)
    r.refuse("indices and updates are of different numbers");
  for (std::size_t d = 0; d < coordinates; ++d)
    if (x[d].varies()) r.refuse(0, "places along them are written");
  r.result(0, x);
}

void follow_one_hot(interpretation& r) {
  for (const std::size_t i : {1, 2}) r.require_whole(i, "it is the depth or the values");
  std::vector<amount> axes = r.axes(0);
  const std::size_t axis = r.axis(r.op().integer("axis", -1), axes.size() + 1);
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(axis), number(r.out_shape()[axis]));
  r.result(0, axes);
}

void follow_regions(interpretation& r) {
  r.require_whole(0, "regions are cut from it");
  const std::vector<amount> regions = r.axes(1), images = r.axes(2);
  if (regions.size() != 2 || images.size() != 1 || regions[1].varies() || regions[0] != images[0])
    r.refuse("regions and the images that they are in are of different numbers");
  std::vector<amount> axes = whole(r.out_shape());
  axes[0] = regions[0];
  r.result(0, axes);
}

/// The count of results of a node that chooses.
amount chosen(interpretation& r) {
  const value_id y = r.op().outputs[0];
  const amount count =
      r.known_counts().chosen(r.all().same().count_of(r.op()), r.op().integer(reference::suppression_bound, 0), y);
  r.all().set_chosen(y, count);
  return count;
}

/// NonZero, Compress and a Range that counts at run time.
void follow_chosen(interpretation& r) {
  const node& n = r.op();
  const i64 rows = n.integer(reference::suppression_bound, 0);
  if (rows > max_rows)
    refuse(describe(r.all().source(), n) + ": it may have " + std::to_string(rows) + " results, more than 2^24");
  const amount count = chosen(r);
  if (n.op == "NonZero") return r.result(0, {number(static_cast<i64>(r.rank(0))), count}, true);
  if (n.op == "Range") return r.result(0, {count}, true);
  const std::vector<amount> x = r.axes(0);
  if (!n.has("axis")) {
    for (std::size_t d = 1; d < x.size(); ++d)
      if (x[d].varies()) r.refuse(0, "it is read as one line");
    return r.result(0, {count}, true);
  }
  std::vector<amount> axes = x;
  const std::size_t axis = r.axis(n.integer("axis", 0), x.size());
  if (x[axis].varies() && r.bounded(1) && r.axes(1)[0] != x[axis])
    r.refuse(0, "the condition has another number of them");
  axes[axis] = count;
  r.result(0, axes, true);
}

void follow_unique(interpretation& r) {
  r.require_whole(0, "Unique would count what is none of them");
  const node& n = r.op();
  const amount count = chosen(r);
  std::vector<amount> axes = r.axes(0);
  if (n.has("axis"))
    axes[r.axis(n.integer("axis", 0), axes.size())] = count;
  else
    axes = {count};
  r.result(0, axes, true);
  r.result(1, {count}, true);
  r.result(3, {count}, true);
}

void follow_suppression(interpretation& r) {
  const node& n = r.op();
  const std::vector<amount> boxes = r.axes(0), scores = r.axes(1);
  for (const std::size_t d : {0, 1})
    if (scores[d].varies()) r.refuse(1, "images and classes must be of fixed numbers");
  if (boxes[0].varies() || boxes[1] != scores[2]) r.refuse("boxes and scores are of different numbers");
  if (!chooses(n)) r.refuse("all its rows count there");
  const amount count = chosen(r);
  r.result(0, {count, number(3)}, true);
}

void follow_constant_of_shape(interpretation& r) { r.result(0, r.numbers(0)); }

/// A Range between numbers that follow from counts; others choose (follow_chosen).
void follow_range(interpretation& r) {
  if (chooses(r.op())) return follow_chosen(r);
  const amount start = r.numbers(0).at(0), limit = r.numbers(1).at(0), step = r.numbers(2).at(0);
  if (start.varies() || step != number(1)) r.refuse("it does not go from a constant to their number in steps of 1");
  const std::optional<amount> length = added(limit, start, -1);
  if (!length) r.refuse("its length is not known");
  r.result(0, {r.known_counts().clamped(*length, 0, std::numeric_limits<i64>::max())}, true);
}

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

void fill_gather(filler& f) {
  const std::size_t axis = f.at().axis(f.op().integer("axis", 0), f.at().rank(0));
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
  const array* value = n.find<array>("value");
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

/// GatherND of data whose lengths in use may vary: indices from the end count from those, and an index behind them
/// raises the flag.
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

}

void add_place_rules(rule_table& t) {
  t["ConstantOfShape"] = {follow_constant_of_shape, fill_constant_of_shape};
  t["Range"] = {follow_range, fill_range};
  t["Gather"] = {follow_gather, fill_gather};
  t["GatherElements"] = {follow_gather_elements, fill_gather};
  t["GatherND"] = {follow_gather_nd, fill_gather_nd};
  t["ScatterElements"] = {follow_scatter_elements, fill_scatter};
  t["ScatterND"] = {follow_scatter_nd, fill_scatter};
  t["OneHot"] = {follow_one_hot};
  t["RoiAlign"] = {follow_regions, fill_regions};
  t["NonZero"] = {follow_chosen, fill_chosen};
  t["Compress"] = {follow_chosen, fill_chosen};
  t["Unique"] = {follow_unique, fill_unique};
  t["NonMaxSuppression"] = {follow_suppression, fill_suppression};
  t["nsk.Length"] = {[](interpretation&) {}};  // the count itself
}

}
