// SPDX-License-Identifier: MIT
/// Running sums, writing to known places, gathering by coordinates, triangles, and tests of floats: made of slices,
/// gathers, comparisons and choices.
#include <limits>
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {
namespace {

shape_t strides_of_rows(const shape_t& shape) {
  shape_t stride(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * shape[d];
  return stride;
}

}

int canonicaliser::part(const node& n, int x, std::size_t axis, std::int64_t from, std::int64_t length,
                        const std::string& suffix) {
  shape_t shape = m_program.shape(x);
  if (length == shape[axis]) return x;
  slice_parameters s{std::vector<std::int64_t>(shape.size(), 0), std::vector<std::int64_t>(shape.size(), 1)};
  s.starts[axis] = from;
  shape[axis] = length;
  const int result = temporary(n, suffix, shape, m_program.values[static_cast<std::size_t>(x)].type);
  emit(n, std::move(s), {x}, result);
  return result;
}

int canonicaliser::appended(const node& n, std::size_t axis, int a, int b, const std::string& suffix) {
  shape_t shape = m_program.shape(a);
  shape[axis] += m_program.shape(b)[axis];
  const int result = temporary(n, suffix, shape, m_program.values[static_cast<std::size_t>(a)].type);
  emit(n, concat_parameters{static_cast<int>(axis)}, {a, b}, result);
  return result;
}

int canonicaliser::integer_sum(const node& n, int a, int b, const std::string& suffix) {
  const int result = temporary(n, suffix, m_program.shape(a), m_program.values[static_cast<std::size_t>(a)].type);
  emit(n, arithmetic_parameters{arithmetic_kind::add}, {a, b}, result);
  return result;
}

/// Sums over 1, 2, 4, ... elements, each made of two of the sums before (W. D. Hillis and G. L. Steele, "Data parallel
/// algorithms", 1986).
void canonicaliser::cum_sum(const node& n) {
  const element type = in_type(n, 0);
  if (type != element::f32 && type != element::i32 && type != element::i64)
    refuse_node(n, "CumSum has kernels for float32, int32 and int64");
  const shape_t shape = in_shape(n, 0);
  const auto axis = static_cast<std::size_t>(axis_of(n, integer(n, 1, "the axis"), shape.size()));
  const std::int64_t length = shape[axis];
  const bool backwards = n.integer("reverse", 0) != 0;
  int x = in(n, 0);
  if (n.integer("exclusive", 0) != 0) {
    shape_t line = shape;
    line[axis] = 1;
    charge(n, static_cast<double>(count_of(line)));
    const int zeros = m_program.add({n.name + "#zeros", type, line, std::make_shared<array>(type, line)});
    if (length == 1) {
      emit(n, reshape_parameters{}, {zeros});
      return;
    }
    const int rest = part(n, x, axis, backwards ? 1 : 0, length - 1, "rest");
    x = appended(n, axis, backwards ? rest : zeros, backwards ? zeros : rest, "shifted");
  }
  for (std::int64_t step = 1; step < length; step *= 2) {
    const std::string round = std::to_string(step);
    const int low = part(n, x, axis, 0, length - step, "low" + round),
              high = part(n, x, axis, step, length - step, "high" + round);
    const int sum = type == element::f32 ? combine(n, binary_kind::add, low, high, "sum" + round)
                                         : integer_sum(n, low, high, "sum" + round);
    const int done = part(n, x, axis, backwards ? length - step : 0, step, "done" + round);
    x = appended(n, axis, backwards ? sum : done, backwards ? done : sum, "sums" + round);
  }
  emit(n, reshape_parameters{}, {x});
}

/// Rows [rows, width] of `data`, where those that `places` names have been replaced by rows of `updates`, or combined
/// with them. Of two updates of one place the later one counts.
void canonicaliser::write_rows(const node& n, std::int64_t width, const std::vector<std::int64_t>& places) {
  if (places.empty()) {
    emit(n, reshape_parameters{}, {in(n, 0)});
    return;
  }
  const std::string reduction = n.text("reduction", "none");
  const std::int64_t rows = count_of(in_shape(n, 0)) / width, count = static_cast<std::int64_t>(places.size());
  const bool replaces = reduction == "none";
  charge(n, static_cast<double>(rows));
  std::vector<std::int64_t> source(static_cast<std::size_t>(rows), -1);
  for (std::size_t u = 0; u < places.size(); ++u) {
    std::int64_t& from = source[static_cast<std::size_t>(places[u])];
    if (from >= 0 && !replaces) refuse_node(n, "two updates of one element have no kernel with a reduction");
    from = static_cast<std::int64_t>(u);
  }
  const element type = in_type(n, 0);
  const int data = reshaped(n, in(n, 0), {rows, width}), updates = reshaped(n, in(n, 2), {count, width});
  int all = no_value;
  if (replaces) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t& from = source[static_cast<std::size_t>(r)];
      from = from < 0 ? r : rows + from;
    }
    all = appended(n, 0, data, updates, "all");
  } else {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const double neutral = reduction == "add" ? 0 : reduction == "mul" ? 1 : reduction == "max" ? -infinite : infinite;
    if (type != element::f32) refuse_node(n, "a reduction of integers has no kernel");
    for (std::int64_t& from : source) from = from < 0 ? count : from;
    charge(n, static_cast<double>(width));
    const std::vector<double> row(static_cast<std::size_t>(width), neutral);
    all = appended(n, 0, updates, constant(n, "neutral", {1, width}, row), "all");
  }
  const int picked = temporary(n, "picked", {rows, width}, type);
  emit(n, gather_parameters{0, false}, {all, constant_integers(n, "source", {rows}, element::i64, source)}, picked);
  const std::unordered_map<std::string, binary_kind> kinds = {
      {"add", binary_kind::add}, {"mul", binary_kind::mul}, {"max", binary_kind::max}, {"min", binary_kind::min}};
  const int result = replaces ? picked : combine(n, kinds.at(reduction), data, picked, "combined");
  emit(n, reshape_parameters{}, {result});
}

void canonicaliser::scatter_nd(const node& n) {
  const shape_t &x = in_shape(n, 0), &k = in_shape(n, 1);
  const std::vector<std::int64_t> index = integers(n, 1, "the indices");
  const auto depth = static_cast<std::size_t>(k.back());
  const shape_t indexed(x.begin(), x.begin() + k.back());
  const shape_t stride = strides_of_rows(indexed);
  std::vector<std::int64_t> places(index.size() / depth, 0);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t length = indexed[i % depth], at = index[i] < 0 ? index[i] + length : index[i];
    if (at < 0 || at >= length) refuse_node(n, "an index lies outside its axis");
    places[i / depth] += at * stride[i % depth];
  }
  write_rows(n, count_of({x.begin() + k.back(), x.end()}), places);
}

void canonicaliser::scatter_elements(const node& n) {
  const shape_t &x = in_shape(n, 0), &k = in_shape(n, 1);
  const std::vector<std::int64_t> index = integers(n, 1, "the indices");
  const auto axis = static_cast<std::size_t>(axis_of(n, n.integer("axis", 0), x.size()));
  const shape_t stride = strides_of_rows(x), own = strides_of_rows(k);
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t at = index[i] < 0 ? index[i] + x[axis] : index[i];
    if (at < 0 || at >= x[axis]) refuse_node(n, "an index lies outside its axis");
    std::int64_t place = at * stride[axis];
    for (std::size_t d = 0; d < x.size(); ++d)
      if (d != axis) place += static_cast<std::int64_t>(i) / own[d] % k[d] * stride[d];
    places.push_back(place);
  }
  write_rows(n, 1, places);
}

/// Rows by coordinates. Each coordinate finds its share of the row's number in a table, which clamps it as every gather
/// does.
void canonicaliser::gather_nd(const node& n) {
  const shape_t &x = in_shape(n, 0), &k = in_shape(n, 1);
  if (n.integer("batch_dims", 0) != 0) refuse_node(n, "batch_dims other than 0 have no kernel");
  const auto depth = static_cast<std::size_t>(k.back());
  const shape_t indexed(x.begin(), x.begin() + k.back());
  const shape_t stride = strides_of_rows(indexed);
  const std::int64_t count = count_of(k) / k.back(), width = count_of({x.begin() + k.back(), x.end()});
  const int coordinates = reshaped(n, in(n, 1), {count, k.back()});
  int row = no_value;
  for (std::size_t d = 0; d < depth; ++d) {
    const std::string axis = std::to_string(d);
    charge(n, static_cast<double>(indexed[d]));
    std::vector<std::int64_t> table;
    for (std::int64_t i = 0; i < indexed[d]; ++i) table.push_back(i * stride[d]);
    const int coordinate =
                  reshaped(n, part(n, coordinates, 1, static_cast<std::int64_t>(d), 1, "coordinate" + axis), {count}),
              share = temporary(n, "share" + axis, {count}, element::i64);
    emit(n, gather_parameters{0, false},
         {constant_integers(n, "table" + axis, {indexed[d]}, element::i64, table), coordinate}, share);
    row = row == no_value ? share : integer_sum(n, row, share, "row" + axis);
  }
  const int picked = temporary(n, "picked", {count, width}, in_type(n, 0));
  emit(n, gather_parameters{0, false}, {reshaped(n, in(n, 0), {count_of(indexed), width}), row}, picked);
  emit(n, reshape_parameters{}, {picked});
}

/// x on one side of a diagonal, 0 on the other.
void canonicaliser::trilu(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const std::int64_t rows = x[x.size() - 2], columns = x[x.size() - 1];
  const std::int64_t shift = present(n, 1) ? integer(n, 1, "k") : 0;
  const bool upper = n.integer("upper", 1) != 0;
  charge(n, static_cast<double>(rows) * static_cast<double>(columns));
  std::vector<std::int64_t> keeps;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) keeps.push_back(upper ? c - r >= shift : c - r <= shift);
  const int mask = constant_integers(n, "side", {rows, columns}, element::boolean, keeps),
            zero = constant_integers(n, "zero", {}, in_type(n, 0), {0});
  emit(n, select_parameters{}, {mask, in(n, 0), zero});
}

/// The first positions backwards, the rest as it is; equal lengths for the whole batch.
void canonicaliser::reverse_sequence(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const auto axis = static_cast<std::size_t>(axis_of(n, n.integer("time_axis", 0), x.size()));
  const std::vector<std::int64_t> lengths = integers(n, 1, "the lengths");
  if (lengths.empty()) refuse_node(n, "a batch of no sequences");
  for (std::int64_t l : lengths)
    if (l != lengths[0]) refuse_node(n, "lengths that differ within the batch have no kernel");
  if (lengths[0] < 0 || lengths[0] > x[axis])
    refuse_node(n, "a length of " + std::to_string(lengths[0]) + " in sequences of " + std::to_string(x[axis]));
  const std::int64_t length = std::max<std::int64_t>(lengths[0], 1);
  slice_parameters s{std::vector<std::int64_t>(x.size(), 0), std::vector<std::int64_t>(x.size(), 1)};
  s.starts[axis] = length - 1;
  s.steps[axis] = length > 1 ? -1 : 1;
  shape_t shape = x;
  shape[axis] = length;
  int backwards = temporary(n, "backwards", shape, in_type(n, 0));
  emit(n, std::move(s), {in(n, 0)}, backwards);
  if (length < x[axis])
    backwards = appended(n, axis, backwards, part(n, in(n, 0), axis, length, x[axis] - length, "rest"), "all");
  emit(n, reshape_parameters{}, {backwards});
}

int canonicaliser::float_tested(const node& n) {
  if (in_type(n, 0) != element::f32) refuse_node(n, "it has a kernel for float32. Export the model in float32");
  return in(n, 0);
}

/// What differs from itself.
void canonicaliser::is_nan(const node& n) {
  const int same = temporary(n, "same", in_shape(n, 0), element::boolean), x = float_tested(n);
  emit(n, compare_parameters{compare_kind::equal}, {x, x}, same);
  emit(n, arithmetic_parameters{arithmetic_kind::bit_xor},
       {same, constant_integers(n, "true", {}, element::boolean, {1})});
}

void canonicaliser::is_inf(const node& n) {
  const bool negative = n.integer("detect_negative", 1) != 0, positive = n.integer("detect_positive", 1) != 0;
  if (!negative && !positive) refuse_node(n, "it detects nothing; replace it by a constant");
  int x = float_tested(n);
  if (negative && positive) x = apply(n, x, function::abs, "abs");
  const double limit = std::numeric_limits<double>::infinity();
  emit(n, compare_parameters{compare_kind::equal}, {x, scalar(n, "limit", positive ? limit : -limit)});
}

}
