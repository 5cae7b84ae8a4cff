// SPDX-License-Identifier: MIT
/// Running sums, writing to known places, gathering by coordinates, triangles and reversed sequences: made of slices,
/// gathers and choices.
#include <limits>
#include <unordered_map>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

shape_t strides_of_rows(const shape_t& shape) {
  shape_t stride(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * shape[d];
  return stride;
}

int integer_sum(context& c, int a, int b, const std::string& suffix) {
  const int result = c.temporary(suffix, c.shape(a), c.type(a));
  c.emit(arithmetic_params{arithmetic_kind::add}, {a, b}, result);
  return result;
}

/// Sums over 1, 2, 4, ... elements, each made of two of the sums before (W. D. Hillis and G. L. Steele, "Data parallel
/// algorithms", 1986).
void cum_sum(context& c) {
  const node& n = c.op();
  const element type = c.in_type(0);
  if (type != element::f32 && type != element::i32 && type != element::i64)
    c.refuse("CumSum has kernels for float32, int32 and int64");
  const shape_t shape = c.in_shape(0);
  const auto axis = static_cast<std::size_t>(c.axis(integer(c, 1, "the axis"), shape.size()));
  const std::int64_t length = shape[axis];
  const bool backwards = n.integer("reverse", 0) != 0;
  int x = c.in(0);
  if (n.integer("exclusive", 0) != 0) {
    shape_t line = shape;
    line[axis] = 1;
    c.charge(static_cast<double>(count_of(line)));
    const int zeros = c.made().add({n.name + "#zeros", type, line, std::make_shared<array>(type, line)});
    if (length == 1) {
      c.emit(reshape_parameters{}, {zeros});
      return;
    }
    const int rest = part(c, x, axis, backwards ? 1 : 0, length - 1, "rest");
    x = appended(c, axis, backwards ? rest : zeros, backwards ? zeros : rest, "shifted");
  }
  for (std::int64_t step = 1; step < length; step *= 2) {
    const std::string round = std::to_string(step);
    const int low = part(c, x, axis, 0, length - step, "low" + round),
              high = part(c, x, axis, step, length - step, "high" + round);
    const int sum = type == element::f32 ? combine(c, binary_kind::add, low, high, "sum" + round)
                                         : integer_sum(c, low, high, "sum" + round);
    const int done = part(c, x, axis, backwards ? length - step : 0, step, "done" + round);
    x = appended(c, axis, backwards ? sum : done, backwards ? done : sum, "sums" + round);
  }
  c.emit(reshape_parameters{}, {x});
}

/// Rows [rows, width] of `data`, where those that `places` names have been replaced by rows of `updates`, or combined
/// with them. Of two updates of one place the later one counts.
void write_rows(context& c, std::int64_t width, const std::vector<std::int64_t>& places) {
  const node& n = c.op();
  if (places.empty()) {
    c.emit(reshape_parameters{}, {c.in(0)});
    return;
  }
  const std::string reduction = n.text("reduction", "none");
  const std::int64_t rows = count_of(c.in_shape(0)) / width, count = static_cast<std::int64_t>(places.size());
  const bool replaces = reduction == "none";
  c.charge(static_cast<double>(rows));
  std::vector<std::int64_t> source(static_cast<std::size_t>(rows), -1);
  for (std::size_t u = 0; u < places.size(); ++u) {
    std::int64_t& from = source[static_cast<std::size_t>(places[u])];
    if (from >= 0 && !replaces) c.refuse("two updates of one element have no kernel with a reduction");
    from = static_cast<std::int64_t>(u);
  }
  const element type = c.in_type(0);
  const int data = reshaped(c, c.in(0), {rows, width}), updates = reshaped(c, c.in(2), {count, width});
  int all = no_value;
  if (replaces) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t& from = source[static_cast<std::size_t>(r)];
      from = from < 0 ? r : rows + from;
    }
    all = appended(c, 0, data, updates, "all");
  } else {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const double neutral = reduction == "add" ? 0 : reduction == "mul" ? 1 : reduction == "max" ? -infinite : infinite;
    if (type != element::f32) c.refuse("a reduction of integers has no kernel");
    for (std::int64_t& from : source) from = from < 0 ? count : from;
    c.charge(static_cast<double>(width));
    const std::vector<double> row(static_cast<std::size_t>(width), neutral);
    all = appended(c, 0, updates, constant(c, "neutral", {1, width}, row), "all");
  }
  const int picked = c.temporary("picked", {rows, width}, type);
  c.emit(gather_parameters{0, false}, {all, constant_integers(c, "source", {rows}, element::i64, source)}, picked);
  const std::unordered_map<std::string, binary_kind> kinds = {
      {"add", binary_kind::add}, {"mul", binary_kind::mul}, {"max", binary_kind::max}, {"min", binary_kind::min}};
  const int result = replaces ? picked : combine(c, kinds.at(reduction), data, picked, "combined");
  c.emit(reshape_parameters{}, {result});
}

void scatter_nd(context& c) {
  const shape_t &x = c.in_shape(0), &k = c.in_shape(1);
  const std::vector<std::int64_t> index = integers(c, 1, "the indices");
  const auto depth = static_cast<std::size_t>(k.back());
  const shape_t indexed(x.begin(), x.begin() + k.back());
  const shape_t stride = strides_of_rows(indexed);
  std::vector<std::int64_t> places(index.size() / depth, 0);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t length = indexed[i % depth], at = index[i] < 0 ? index[i] + length : index[i];
    if (at < 0 || at >= length) c.refuse("an index is outside its axis");
    places[i / depth] += at * stride[i % depth];
  }
  write_rows(c, count_of({x.begin() + k.back(), x.end()}), places);
}

void scatter_elements(context& c) {
  const node& n = c.op();
  const shape_t &x = c.in_shape(0), &k = c.in_shape(1);
  const std::vector<std::int64_t> index = integers(c, 1, "the indices");
  const auto axis = static_cast<std::size_t>(c.axis(n.integer("axis", 0), x.size()));
  const shape_t stride = strides_of_rows(x), own = strides_of_rows(k);
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t at = index[i] < 0 ? index[i] + x[axis] : index[i];
    if (at < 0 || at >= x[axis]) c.refuse("an index is outside its axis");
    std::int64_t place = at * stride[axis];
    for (std::size_t d = 0; d < x.size(); ++d)
      if (d != axis) place += static_cast<std::int64_t>(i) / own[d] % k[d] * stride[d];
    places.push_back(place);
  }
  write_rows(c, 1, places);
}

/// Rows by coordinates. Each coordinate finds its share of the row's number in a table, which clamps it as every gather
/// does.
void gather_nd(context& c) {
  const node& n = c.op();
  const shape_t &x = c.in_shape(0), &k = c.in_shape(1);
  if (n.integer("batch_dims", 0) != 0) c.refuse("batch_dims other than 0 have no kernel");
  const auto depth = static_cast<std::size_t>(k.back());
  const shape_t indexed(x.begin(), x.begin() + k.back());
  const shape_t stride = strides_of_rows(indexed);
  const std::int64_t count = count_of(k) / k.back(), width = count_of({x.begin() + k.back(), x.end()});
  const int coordinates = reshaped(c, c.in(1), {count, k.back()});
  int row = no_value;
  for (std::size_t d = 0; d < depth; ++d) {
    const std::string axis = std::to_string(d);
    c.charge(static_cast<double>(indexed[d]));
    std::vector<std::int64_t> table;
    for (std::int64_t i = 0; i < indexed[d]; ++i) table.push_back(i * stride[d]);
    const int coordinate =
                  reshaped(c, part(c, coordinates, 1, static_cast<std::int64_t>(d), 1, "coordinate" + axis), {count}),
              share = c.temporary("share" + axis, {count}, element::i64);
    c.emit(gather_parameters{0, false},
           {constant_integers(c, "table" + axis, {indexed[d]}, element::i64, table), coordinate}, share);
    row = row == no_value ? share : integer_sum(c, row, share, "row" + axis);
  }
  const int picked = c.temporary("picked", {count, width}, c.in_type(0));
  c.emit(gather_parameters{0, false}, {reshaped(c, c.in(0), {count_of(indexed), width}), row}, picked);
  c.emit(reshape_parameters{}, {picked});
}

/// x on one side of a diagonal, 0 on the other.
void trilu(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  const std::int64_t rows = x[x.size() - 2], columns = x[x.size() - 1];
  const std::int64_t shift = c.has(1) ? integer(c, 1, "k") : 0;
  const bool upper = n.integer("upper", 1) != 0;
  c.charge(static_cast<double>(rows) * static_cast<double>(columns));
  std::vector<std::int64_t> keeps;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) keeps.push_back(upper ? c - r >= shift : c - r <= shift);
  const int mask = constant_integers(c, "side", {rows, columns}, element::boolean, keeps),
            zero = constant_integers(c, "zero", {}, c.in_type(0), {0});
  c.emit(select_params{}, {mask, c.in(0), zero});
}

/// The first positions backwards, the rest as it is; equal lengths for the whole batch.
void reverse_sequence(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  const auto axis = static_cast<std::size_t>(c.axis(n.integer("time_axis", 0), x.size()));
  const std::vector<std::int64_t> lengths = integers(c, 1, "the lengths");
  if (lengths.empty()) c.refuse("a batch of no sequences");
  for (std::int64_t l : lengths)
    if (l != lengths[0]) c.refuse("lengths that differ within the batch have no kernel");
  if (lengths[0] < 0 || lengths[0] > x[axis])
    c.refuse("a length of " + std::to_string(lengths[0]) + " in sequences of " + std::to_string(x[axis]));
  const std::int64_t length = std::max<std::int64_t>(lengths[0], 1);
  slice_parameters s = whole_slice(x.size());
  s.starts[axis] = length - 1;
  s.steps[axis] = length > 1 ? -1 : 1;
  shape_t shape = x;
  shape[axis] = length;
  int backwards = c.temporary("backwards", shape, c.in_type(0));
  c.emit(std::move(s), {c.in(0)}, backwards);
  if (length < x[axis])
    backwards = appended(c, axis, backwards, part(c, c.in(0), axis, length, x[axis] - length, "rest"), "all");
  c.emit(reshape_parameters{}, {backwards});
}

}

void add_scatter(rule_table& t) {
  t["CumSum"] = {cum_sum, element_types::any};
  t["Scatter"] = {scatter_elements, element_types::any};
  t["ScatterElements"] = {scatter_elements, element_types::any};
  t["ScatterND"] = {scatter_nd, element_types::any};
  t["GatherND"] = {gather_nd, element_types::any};
  t["Trilu"] = {trilu, element_types::any};
  t["ReverseSequence"] = {reverse_sequence, element_types::any};
}

}
