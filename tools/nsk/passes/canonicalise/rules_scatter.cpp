// SPDX-License-Identifier: MIT
/// Running sums, writing to known places, gathering by coordinates, triangles and reversed sequences: made of slices,
/// gathers and choices.
#include <algorithm>
#include <limits>
#include <memory>
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

/// Sums along an axis, from its begin or from its end.
struct running_sum {
  std::size_t axis;
  bool backwards;
};

/// x + y, of any type that CumSum has.
int sum_of(context& c, int x, int y, const std::string& suffix) {
  return c.type(x) == element::f32 ? combine(c, binary_kind::add, x, y, suffix) : integer_sum(c, x, y, suffix);
}

/// Each element of x and the one `step` before it; the first ones have none.
int add_earlier(context& c, const running_sum& s, int x, std::int64_t step) {
  const std::int64_t length = c.shape(x)[s.axis];
  const std::string round = std::to_string(step);
  const int low = part(c, x, s.axis, 0, length - step, "low" + round),
            high = part(c, x, s.axis, step, length - step, "high" + round);
  const int sum = sum_of(c, low, high, "sum" + round);
  const int done = part(c, x, s.axis, s.backwards ? length - step : 0, step, "done" + round);
  return appended(c, s.axis, s.backwards ? sum : done, s.backwards ? done : sum, "sums" + round);
}

/// The sums of add_earlier(), bit by bit, where the axis may be shorter than the step: the first elements meet -0,
/// which changes no number, and no sign of a zero.
int add_earlier_or_nothing(context& c, const running_sum& s, int x, std::int64_t step) {
  const std::string round = std::to_string(step);
  const shape_t shape = c.shape(x), one(shape.size(), 1);
  shape_t line = shape;
  line[s.axis] = step;
  const int none = c.temporary("none" + round, line, c.type(x));
  const int zero = c.type(x) == element::f32 ? constant(c, "zero" + round, one, {-0.0})
                                             : constant_integers(c, "zero" + round, one, c.type(x), {0});
  c.emit(expand_parameters{}, {zero}, none);
  const int longer = appended(c, s.axis, s.backwards ? x : none, s.backwards ? none : x, "longer" + round);
  const int earlier = part(c, longer, s.axis, s.backwards ? step : 0, shape[s.axis], "earlier" + round);
  return sum_of(c, s.backwards ? x : earlier, s.backwards ? earlier : x, "sums" + round);
}

/// x moved by one: a zero in front, or behind, in place of its last or first element.
int moved_by_one(context& c, const running_sum& s, int x) {
  const shape_t shape = c.shape(x);
  shape_t line = shape;
  line[s.axis] = 1;
  c.charge(static_cast<double>(count_of(line)));
  const int zeros = c.made().add({c.op().name + "#zeros", c.type(x), line, std::make_shared<array>(c.type(x), line)});
  const int longer = appended(c, s.axis, s.backwards ? x : zeros, s.backwards ? zeros : x, "shifted");
  return part(c, longer, s.axis, s.backwards ? 1 : 0, shape[s.axis], "others");
}

/// Sums over 1, 2, 4, ... elements, each made of two of the sums before (W. D. Hillis and G. L. Steele, "Data parallel
/// algorithms", 1986). With lengths there are as many rounds as the bounds need.
void cum_sum(context& c) {
  const node& n = c.op();
  const element type = c.in_type(0);
  if (type != element::f32 && type != element::i32 && type != element::i64)
    c.refuse("CumSum has kernels for float32, int32 and int64");
  const running_sum s{static_cast<std::size_t>(c.axis(integer(c, 1, "the axis"), c.in_shape(0).size())),
                      n.integer("reverse", 0) != 0};
  int x = c.in(0);
  if (n.integer("exclusive", 0) != 0) x = moved_by_one(c, s, x);
  for (std::int64_t step = 1; step < c.bound_shape(0)[s.axis]; step *= 2)
    x = c.has_fixed_sizes() ? add_earlier(c, s, x, step) : add_earlier_or_nothing(c, s, x, step);
  c.emit(reshape_parameters{}, {x});
}

scatter_kind reduction_of(context& c) {
  static const std::unordered_map<std::string, scatter_kind> kinds = {{"none", scatter_kind::replace},
                                                                      {"add", scatter_kind::add},
                                                                      {"mul", scatter_kind::mul},
                                                                      {"max", scatter_kind::max},
                                                                      {"min", scatter_kind::min}};
  const auto found = kinds.find(c.op().text("reduction", "none"));
  if (found == kinds.end()) c.refuse("attribute 'reduction' has an unknown value");
  const element type = c.in_type(0);
  if (found->second != scatter_kind::replace && (type == element::boolean || type == element::f16))
    c.refuse("reductions of booleans and of float16 have no kernel");
  return found->second;
}

/// The data that is written to. Where it is one number all over, that number expanded: the file need not hold it.
int data_of(context& c) {
  constexpr std::int64_t few = 1024;
  const auto& numbers = c.input(0).constant;
  if (!numbers || numbers->count() < few) return c.in(0);
  const auto size = static_cast<std::ptrdiff_t>(size_of(numbers->type));
  const std::vector<std::byte>& bytes = numbers->data;
  if (!std::equal(bytes.begin() + size, bytes.end(), bytes.begin())) return c.in(0);
  array one(numbers->type, shape_t(numbers->shape.size(), 1));
  std::copy(bytes.begin(), bytes.begin() + size, one.data.begin());
  const int number = c.made().add({c.op().name + "#number", one.type, one.shape, std::make_shared<array>(one)}),
            all = c.temporary("numbers", numbers->shape, one.type);
  c.emit(expand_parameters{}, {number}, all);
  return all;
}

/// Rows [rows, width] of `data`, where those that `places` names have been replaced by rows of `updates`, or combined
/// with them. Returns false, and makes nothing, where a scatter has to do it: integers are combined, or elements that
/// have several updates.
bool write_known_rows(context& c, std::int64_t width, const std::vector<std::int64_t>& places, scatter_kind kind) {
  const std::int64_t rows = count_of(c.in_shape(0)) / width, count = static_cast<std::int64_t>(places.size());
  const bool replaces = kind == scatter_kind::replace;
  const element type = c.in_type(0);
  if (!replaces && type != element::f32) return false;
  c.charge(static_cast<double>(rows));
  std::vector<std::int64_t> source(static_cast<std::size_t>(rows), -1);
  for (std::size_t u = 0; u < places.size(); ++u) {
    std::int64_t& from = source[static_cast<std::size_t>(places[u])];
    if (from >= 0 && !replaces) return false;
    from = static_cast<std::int64_t>(u);
  }
  const int data = reshaped(c, data_of(c), {rows, width}), updates = reshaped(c, c.in(2), {count, width});
  int all = no_value;
  if (replaces) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t& from = source[static_cast<std::size_t>(r)];
      from = from < 0 ? r : rows + from;
    }
    all = appended(c, 0, data, updates, "all");
  } else {
    static const std::unordered_map<scatter_kind, double> neutral = {
        {scatter_kind::add, 0},
        {scatter_kind::mul, 1},
        {scatter_kind::max, -std::numeric_limits<double>::infinity()},
        {scatter_kind::min, std::numeric_limits<double>::infinity()}};
    for (std::int64_t& from : source) from = from < 0 ? count : from;
    c.charge(static_cast<double>(width));
    const std::vector<double> row(static_cast<std::size_t>(width), neutral.at(kind));
    all = appended(c, 0, updates, constant(c, "neutral", {1, width}, row), "all");
  }
  const int picked = c.temporary("picked", {rows, width}, type);
  c.emit(gather_parameters{0, false}, {all, constant_integers(c, "source", {rows}, element::i64, source)}, picked);
  static const std::unordered_map<scatter_kind, binary_kind> kinds = {{scatter_kind::add, binary_kind::add},
                                                                      {scatter_kind::mul, binary_kind::mul},
                                                                      {scatter_kind::max, binary_kind::max},
                                                                      {scatter_kind::min, binary_kind::min}};
  const int result = replaces ? picked : combine(c, kinds.at(kind), data, picked, "combined");
  c.emit(reshape_parameters{}, {result});
  return true;
}

/// Rows [rows, width] of `data` with rows of `updates` at the row numbers in `places` [count].
void write_rows(context& c, std::int64_t width, int places, scatter_kind kind) {
  const std::int64_t rows = count_of(c.in_shape(0)) / width, count = count_of(c.shape(places));
  const int data = reshaped(c, data_of(c), {rows, width}), updates = reshaped(c, c.in(2), {count, width}),
            written = c.temporary("written", {rows, width}, c.in_type(0));
  c.emit(scatter_params{0, kind}, {data, reshaped(c, places, {count, 1}), updates}, written);
  c.emit(reshape_parameters{}, {written});
}

/// Row numbers that coordinates [.., axes] name among rows of lengths `indexed`. Each coordinate finds its share of the
/// row's number in a table, which clamps it as every gather does.
int rows_of_coordinates(context& c, int coordinates, const shape_t& indexed) {
  const std::int64_t depth = c.shape(coordinates).back(), count = count_of(c.shape(coordinates)) / depth;
  const shape_t stride = strides_of_rows(indexed);
  coordinates = reshaped(c, coordinates, {count, depth});
  int row = no_value;
  for (std::size_t d = 0; d < indexed.size(); ++d) {
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
  return row;
}

std::int64_t checked_position(const context& c, std::int64_t index, std::int64_t length) {
  const std::int64_t at = index < 0 ? index + length : index;
  if (at < 0 || at >= length) c.refuse("an index is outside its axis");
  return at;
}

void require_index(const context& c) {
  if (!is_computed_integer(c.in_type(1))) c.refuse("indices must be int32 or int64; add a Cast in the exporter");
}

void scatter_nd(context& c) {
  require_index(c);
  const shape_t &x = c.in_shape(0), &k = c.in_shape(1);
  const scatter_kind kind = reduction_of(c);
  const auto depth = static_cast<std::size_t>(k.back());
  const shape_t indexed(x.begin(), x.begin() + k.back());
  const std::int64_t width = count_of({x.begin() + k.back(), x.end()});
  if (count_of(k) == 0 || width == 0) return identity(c);
  if (c.input(1).constant) {
    const std::vector<std::int64_t> index = integers(c, 1, "the indices");
    const shape_t stride = strides_of_rows(indexed);
    std::vector<std::int64_t> places(index.size() / depth, 0);
    for (std::size_t i = 0; i < index.size(); ++i)
      places[i / depth] += checked_position(c, index[i], indexed[i % depth]) * stride[i % depth];
    if (write_known_rows(c, width, places, kind)) return;
  }
  write_rows(c, width, depth == 1 ? c.in(1) : rows_of_coordinates(c, c.in(1), indexed), kind);
}

/// Scatters along the axis into the part of the data that indices and updates are as long as; the rest is appended.
void scatter_part(context& c, std::size_t axis, scatter_kind kind) {
  const shape_t& k = c.in_shape(1);
  struct cut {
    std::size_t axis;
    int rest;
  };
  std::vector<cut> cuts;
  int data = data_of(c);
  for (std::size_t d = 0; d < k.size(); ++d) {
    const std::int64_t length = c.shape(data)[d];
    if (d == axis || k[d] == length) continue;
    const std::string name = std::to_string(d);
    cuts.push_back({d, part(c, data, d, k[d], length - k[d], "rest" + name)});
    data = part(c, data, d, 0, k[d], "part" + name);
  }
  int result = cuts.empty() ? c.out() : c.temporary("written", c.shape(data), c.in_type(0));
  c.emit(scatter_params{static_cast<int>(axis), kind}, {data, c.in(1), c.in(2)}, result);
  if (cuts.empty()) return;
  for (std::size_t i = cuts.size(); i-- > 0;)
    result = appended(c, cuts[i].axis, result, cuts[i].rest, "joined" + std::to_string(cuts[i].axis));
  c.emit(reshape_parameters{}, {result});
}

void scatter_elements(context& c) {
  const node& n = c.op();
  const shape_t &x = c.in_shape(0), &k = c.in_shape(1);
  const scatter_kind kind = reduction_of(c);
  const auto axis = static_cast<std::size_t>(c.axis(n.integer("axis", 0), x.size()));
  if (count_of(k) == 0) return identity(c);
  require_index(c);
  if (c.input(1).constant) {
    const std::vector<std::int64_t> index = integers(c, 1, "the indices");
    const shape_t stride = strides_of_rows(x), own = strides_of_rows(k);
    std::vector<std::int64_t> places;
    for (std::size_t i = 0; i < index.size(); ++i) {
      std::int64_t place = checked_position(c, index[i], x[axis]) * stride[axis];
      for (std::size_t d = 0; d < x.size(); ++d)
        if (d != axis) place += static_cast<std::int64_t>(i) / own[d] % k[d] * stride[d];
      places.push_back(place);
    }
    if (write_known_rows(c, 1, places, kind)) return;
  }
  scatter_part(c, axis, kind);
}

/// Rows by coordinates; behind the batch dimensions, each batch in its own rows.
void gather_nd(context& c) {
  const shape_t &x = c.in_shape(0), &k = c.in_shape(1);
  const std::int64_t batch = c.op().integer("batch_dims", 0);
  const shape_t indexed(x.begin() + batch, x.begin() + batch + k.back());
  const std::int64_t rows = count_of(indexed), batches = count_of({x.begin(), x.begin() + batch}),
                     count = count_of(k) / k.back(), width = count_of({x.begin() + batch + k.back(), x.end()});
  require_index(c);
  int row =
      batches == 1 && indexed.size() == 1 ? reshaped(c, c.in(1), {count}) : rows_of_coordinates(c, c.in(1), indexed);
  if (batches > 1) {
    c.charge(static_cast<double>(count));
    std::vector<std::int64_t> first;
    for (std::int64_t i = 0; i < count; ++i) first.push_back(i / (count / batches) * rows);
    row = integer_sum(c, row, constant_integers(c, "batches", {count}, element::i64, first), "place");
  }
  const int picked = c.temporary("picked", {count, width}, c.in_type(0));
  c.emit(gather_parameters{0, false}, {reshaped(c, c.in(0), {batches * rows, width}), row}, picked);
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
