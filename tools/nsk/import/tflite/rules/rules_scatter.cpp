// SPDX-License-Identifier: MIT
/// Rules for operators that write updates into a tensor, or sum rows by number.
#include <algorithm>
#include <limits>
#include <numeric>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;

/// One number all over a shape.
value_id spread(call& c, value_id number, const shape_t& shape) {
  return c.emit("Expand", {number, constant_integers(c, shape)});
}

value_id filled(call& c, element type, const shape_t& shape, double number) {
  array a(type, {});
  a.set(0, number);
  return spread(c, c.constant(std::move(a)), shape);
}

/// The numbers of the elements of a block of `lengths`, as [lengths..., axes].
array positions_of(call& c, const shape_t& lengths) {
  const auto axes = static_cast<std::int64_t>(lengths.size());
  c.all().made.limits().make(count_of(lengths) * axes, "its positions");
  shape_t shape = lengths;
  shape.push_back(axes);
  array a(element::i64, shape);
  const std::int64_t count = count_of(lengths);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t d = lengths.size(); d-- > 0; rest /= lengths[d])
      a.set_integer(i * axes + static_cast<std::int64_t>(d), rest % lengths[d]);
  }
  return a;
}

/// The update takes the place of a block that begins at `start`, or as near as it fits.
void dynamic_update_slice(call& c) {
  c.require_operands(3, 3);
  const shape_t &x = c.shape(c.input(0)), &u = c.shape(c.input(1));
  const std::size_t axes = x.size();
  c.require(u.size() == axes && c.shape(c.input(2)) == shape_t{static_cast<std::int64_t>(axes)},
            "input, update and start must have one length per dimension");
  list last(axes), moving;  // the last start that fits; axes along which the block has more than one place
  for (std::size_t a = 0; a < axes; ++a) {
    last[a] = x[a] - u[a];
    c.require(last[a] >= 0, "the update is larger than the input");
    if (last[a] > 0) moving.push_back(static_cast<std::int64_t>(a));
  }
  const value_id data = c.plain(c.input(0)), update = c.plain(c.input(1));
  if (count_of(u) == 0) return c.bind(0, data);
  if (moving.empty()) return c.bind(0, update);
  if (c.is_constant(c.input(2)) && moving.size() == 1) {
    const auto a = static_cast<std::size_t>(moving[0]);
    const std::int64_t start = std::clamp<std::int64_t>(integers(c, c.input(2), "the start")[a], 0, last[a]);
    list zeros(axes, 0), ones(axes, 1), from = zeros, to = x;
    to[a] = start;
    from[a] = start + u[a];
    values parts;
    if (start > 0) parts.push_back(sliced(c, data, false, zeros, to, ones));
    parts.push_back(update);
    if (from[a] < x[a]) parts.push_back(sliced(c, data, false, from, x, ones));
    return c.bind(0, joined(c, parts, moving[0]));
  }
  const std::int64_t depth = moving.back() + 1;  // axes that an index names; the rest moves in whole blocks
  list lengths(u.begin(), u.begin() + depth), named(static_cast<std::size_t>(depth));
  std::iota(named.begin(), named.end(), 0);
  last.resize(named.size());
  const value_id start = cast(c, c.plain(c.input(2)), element::i64),
                 given = static_cast<std::size_t>(depth) == axes ? start : gathered(c, start, 0, named),
                 above = c.emit("Max", {given, constant_integers(c, {0})}),
                 first = c.emit("Min", {above, constant_integers(c, last)});
  const value_id places = c.emit("Add", {c.constant(positions_of(c, lengths)), first});
  c.bind(0, c.emit("ScatterND", {data, places, update}));
}

/// Zeros, and the sum of what each place is given.
void scatter_nd(call& c) {
  c.require_operands(3, 3);
  require_unquantized(c);
  const list shape = integers(c, c.input(2), "the shape");
  c.require(std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 0; }), "a length is negative");
  const value_id places = cast(c, c.plain(c.input(0)), element::i64);
  const element type = c.type(c.input(1));
  value_id update = c.plain(c.input(1));
  const bool truth = type == element::boolean;
  if (truth) update = cast(c, update, element::i32);
  checked_count(shape, "the shape");
  const value_id zeros = filled(c, truth ? element::i32 : type, shape, 0);
  value_id y = zeros;
  if (count_of(c.at(update).shape) > 0)
    y = c.emit("ScatterND", {zeros, places, update}, {{"reduction", std::string("add")}});
  c.bind(0, truth ? cast(c, y, element::boolean) : y);
}

/// A default everywhere but at the places that are given.
void sparse_to_dense(call& c) {
  c.require_operands(4, 4);
  const list shape = integers(c, c.input(1), "the shape");
  c.require(std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 0; }), "a length is negative");
  checked_count(shape, "the shape");
  const auto axes = static_cast<std::int64_t>(shape.size());
  const shape_t& given = c.shape(c.input(0));
  const std::int64_t rows = given.empty() ? 1 : given[0];
  c.require(given.size() <= 2 && (given.size() == 2 ? given[1] : 1) == axes,
            "its places must have one number per dimension of the shape");
  const value_id places = cast(c, reshaped(c, c.plain(c.input(0)), {rows, axes}), element::i64);
  value_id numbers = c.plain(c.input(2));
  numbers = c.emit("Expand", {numbers, constant_integers(c, {rows})});
  const value_id y = spread(c, reshaped(c, c.plain(c.input(3)), {}), shape);
  c.bind(0, rows == 0 ? y : c.emit("ScatterND", {y, places, numbers}));
}

/// Adds rows of one segment; its number of segments follows from their numbers.
void segment_sum(call& c) {
  c.require_operands(2, 2);
  require_unquantized(c);
  const list rows = integers(c, c.input(1), "the segments");
  shape_t shape = c.shape(c.input(0));
  c.require(!shape.empty() && c.rank(c.input(1)) == 1 && static_cast<std::int64_t>(rows.size()) == shape[0],
            "there must be one segment for each row");
  c.require(std::is_sorted(rows.begin(), rows.end()) && (rows.empty() || rows[0] >= 0),
            "the numbers of its segments must be in order, from 0");
  shape[0] = rows.empty() ? 0 : rows.back() + 1;
  checked_count(shape, "its result");
  const value_id zeros = filled(c, c.type(c.input(0)), shape, 0);
  if (count_of(shape) == 0) return c.bind(0, zeros);
  array places(element::i64, {static_cast<std::int64_t>(rows.size()), 1});
  for (std::size_t i = 0; i < rows.size(); ++i) places.set_integer(static_cast<std::int64_t>(i), rows[i]);
  const value_id numbers = c.plain(c.input(0));
  c.bind(0, c.emit("ScatterND", {zeros, c.constant(std::move(places)), numbers}, {{"reduction", std::string("add")}}));
}

/// What an empty segment holds: the neutral element.
double neutral(const std::string& name, element type) {
  if (name == "UNSORTED_SEGMENT_SUM") return 0;
  if (name == "UNSORTED_SEGMENT_PROD") return 1;
  const bool lowest = name == "UNSORTED_SEGMENT_MAX";
  if (type == element::i32) {
    using limits = std::numeric_limits<std::int32_t>;
    return static_cast<double>(lowest ? limits::lowest() : limits::max());
  }
  using limits = std::numeric_limits<float>;
  return static_cast<double>(lowest ? limits::lowest() : limits::max());
}

/// Reduces rows by the number of their segment; rows of a negative one go into a segment that is cut off.
void unsorted_segments(call& c) {
  c.require_operands(3, 3);
  require_unquantized(c);
  static const std::map<std::string, const char*> reductions = {{"UNSORTED_SEGMENT_SUM", "add"},
                                                                {"UNSORTED_SEGMENT_PROD", "mul"},
                                                                {"UNSORTED_SEGMENT_MAX", "max"},
                                                                {"UNSORTED_SEGMENT_MIN", "min"}};
  const shape_t &x = c.shape(c.input(0)), &rows = c.shape(c.input(1));
  const element type = c.type(c.input(0));
  c.require(type == element::f32 || type == element::i32, "it is computed on float32 and int32");
  c.require(rows.size() <= x.size() && std::equal(rows.begin(), rows.end(), x.begin()),
            "its segments must have the first lengths of its input");
  const std::int64_t count = integer(c, c.input(2), "the number of segments");
  c.require(count > 0 && count < far_away, "the number of segments is not positive");
  shape_t shape(x.begin() + static_cast<std::ptrdiff_t>(rows.size()), x.end());
  shape.insert(shape.begin(), count + 1);
  checked_count(shape, "its result");
  value_id y = filled(c, type, shape, neutral(c.name(), type));
  if (count_of(x) > 0) {
    shape_t places = rows;
    places.push_back(1);
    const value_id given = cast(c, c.plain(c.input(1)), element::i64),
                   dropped = c.emit("Less", {given, constant_integers(c, {0})}),
                   kept = c.emit("Where", {dropped, constant_integers(c, {count}), given});
    y = c.emit("ScatterND", {y, reshaped(c, kept, places), c.plain(c.input(0))},
               {{"reduction", std::string(reductions.at(c.name()))}});
  }
  shape_t to = shape;
  to[0] = count;
  c.bind(0, sliced(c, y, false, list(shape.size(), 0), to, list(shape.size(), 1)));
}

/// A truth for each element of a matrix: whether it is on the diagonal.
value_id diagonal(call& c, std::int64_t rows, std::int64_t columns) {
  checked_count({rows, columns}, "its matrices");
  c.all().made.limits().make(rows * columns, "its diagonal");
  array a(element::boolean, {rows, columns});
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) a.set_integer(i * columns + i, 1);
  return c.constant(std::move(a));
}

/// A diagonal [..., n] into matrices: of zeros, or those of the first input.
void matrix_diagonal(call& c) {
  const bool set = c.name() == "MATRIX_SET_DIAG";
  c.require_operands(set ? 2 : 1, set ? 2 : 1);
  if (!set) require_unquantized(c);
  const int d = c.input(set ? 1 : 0);
  c.require(c.rank(d) >= 1 && (!set || c.rank(c.input(0)) == c.rank(d) + 1), "its diagonal has no row of numbers");
  const std::int64_t length = c.shape(d).back();
  const shape_t whole = set ? c.shape(c.input(0)) : shape_t{length, length};
  const std::int64_t rows = whole[whole.size() - 2], columns = whole.back();
  c.require(length == std::min(rows, columns), "its diagonal is longer or shorter than that of its matrices");
  shape_t spread = c.shape(d);
  spread.insert(spread.end() - (length == columns ? 1 : 0), 1);  // the same in every row, or in every column
  const value_id background = set ? c.plain(c.input(0)) : c.constant(array(c.type(d), {}));
  c.bind(0, c.emit("Where", {diagonal(c, rows, columns), reshaped(c, c.plain(d), spread), background}));
}

}

void add_scatter(table& t) {
  t["DYNAMIC_UPDATE_SLICE"] = {dynamic_update_slice, moves_numbers};
  t["SCATTER_ND"] = {scatter_nd};
  t["SPARSE_TO_DENSE"] = {sparse_to_dense, moves_numbers};
  t["SEGMENT_SUM"] = {segment_sum};
  for (const char* name :
       {"UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN"})
    t[name] = {unsorted_segments};
  t["MATRIX_DIAG"] = {matrix_diagonal, moves_numbers};
  t["MATRIX_SET_DIAG"] = {matrix_diagonal, moves_numbers};
}

}
