// SPDX-License-Identifier: MIT
/// Operators that are a scatter to places that are computed or known: which elements are chosen, windows put back into
/// an image.
#include <numeric>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::canonical {
namespace {

/// Coordinates of elements that are not 0, one column each, in order; behind them -1.
void non_zero(context& c) {
  const shape_t& x = c.in_shape(0);
  const std::int64_t n = count_of(x), rank = static_cast<std::int64_t>(x.size());
  if (rank == 0 || n == 0) c.refuse("NonZero of a scalar or of nothing has no kernel");
  const int flat = reshaped(c, c.in(0), {n});
  int mask = flat;
  if (c.in_type(0) != element::boolean) {
    mask = c.temporary("mask", {n}, element::boolean);
    c.emit(compare_params{compare_kind::not_equal}, {flat, constant_integers(c, "zero", {1}, c.in_type(0), {0})}, mask);
  }
  c.charge(static_cast<double>(n) * static_cast<double>(rank));
  std::vector<std::int64_t> coordinates;
  std::int64_t stride = n;
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t length = x[static_cast<std::size_t>(d)];
    stride /= length;
    for (std::int64_t i = 0; i < n; ++i) coordinates.push_back(i / stride % length);
  }
  c.emit(scatter_params{1, scatter_kind::replace},
         {constant_integers(c, "filler", {1, 1}, element::i64, {-1}), reshaped(c, mask, {1, n}),
          constant_integers(c, "coordinates", {rank, n}, element::i64, coordinates)});
}

/// Slices along the axis, or elements, that the condition chooses, in order; behind them 0.
void compress(context& c) {
  const node& n = c.op();
  const bool flat = !n.has("axis");
  shape_t x = flat ? shape_t{count_of(c.in_shape(0))} : c.in_shape(0);
  const auto axis = flat ? 0 : static_cast<std::size_t>(c.axis(n.integer("axis", 0), x.size()));
  const std::int64_t count = count_of(c.in_shape(1));
  if (count_of(x) == 0 || count == 0) c.refuse("Compress of nothing has no kernel");
  const int from = part(c, reshaped(c, c.in(0), x), axis, 0, count, "from");
  shape_t line(x.size(), 1);
  const shape_t one = line;
  line[axis] = count;
  // Indices of booleans choose updates: those that are true take the positions 0, 1, ...
  c.emit(scatter_params{static_cast<int>(axis), scatter_kind::replace},
         {constant_integers(c, "filler", one, c.in_type(0), {0}), reshaped(c, c.in(1), line), from});
}

/// Columns put back where Unfold takes them from: sums into a padded image, whose pads are cut off.
void col_2_im(context& c) {
  const node& n = c.op();
  const std::vector<std::int64_t> image = integers(c, 1, "image_shape"), window = integers(c, 2, "block_shape");
  const std::size_t axes = image.size();
  const std::vector<std::int64_t> ones(axes, 1), none(2 * axes, 0),
      dilations = n.integers("dilations", ones), strides = n.integers("strides", ones), pads = n.integers("pads", none);
  shape_t padded = image, positions = image;
  for (std::size_t d = 0; d < axes; ++d) {
    padded[d] += pads[d] + pads[d + axes];
    positions[d] = (padded[d] - dilations[d] * (window[d] - 1) - 1) / strides[d] + 1;
  }
  const std::int64_t taps = count_of(window), columns = count_of(positions), pixels = count_of(padded),
                     lines = count_of(c.in_shape(0)) / (taps * columns);
  c.charge(static_cast<double>(taps) * static_cast<double>(columns));
  std::vector<std::int64_t> places;
  for (std::int64_t k = 0; k < taps; ++k)
    for (std::int64_t l = 0; l < columns; ++l) {
      std::int64_t place = 0, stride = 1, tap = k, column = l;
      for (std::size_t d = axes; d-- > 0; stride *= padded[d], tap /= window[d], column /= positions[d])
        place += (column % positions[d] * strides[d] + tap % window[d] * dilations[d]) * stride;
      places.push_back(place);
    }
  const int sums = c.temporary("sums", {lines, pixels});
  c.emit(scatter_params{1, scatter_kind::add},
         {constant(c, "zero", {1, 1}, {0}), constant_integers(c, "at", {1, taps * columns}, element::i32, places),
          reshaped(c, c.in(0), {lines, taps * columns})},
         sums);
  shape_t whole = padded;
  whole.insert(whole.begin(), lines);
  int result = reshaped(c, sums, whole);
  for (std::size_t d = 0; d < axes; ++d)
    result = part(c, result, d + 1, pads[d], image[d], "image" + std::to_string(d));
  c.emit(reshape_parameters{}, {result});
}

/// How many elements a Range has (int64 [1]), all inputs being numbers [1] of float32: how often delta fits into
/// limit - start, as exactly as float64 says it, which decides about the last element. The quotient without what fmod
/// leaves is whole but for rounding, so that its nearest integer is right up to 2^20.
class float_range {
 public:
  float_range(context& c, int start, int limit, int delta) : m_c(c), m_delta(delta) {
    m_zero = scalar(c, "zero", 0);
    m_difference = combine(c, binary_kind::sub, limit, start, "difference");
    m_sign = apply(c, delta, function::sign, "sign");
    // Knuth's two-sum: limit - start = difference + m_error, exactly.
    const int used = combine(c, binary_kind::sub, m_difference, limit, "used"),
              limit_used = combine(c, binary_kind::sub, m_difference, used, "limit_used");
    m_error = combine(c, binary_kind::sub, combine(c, binary_kind::sub, limit, limit_used, "limit_left"),
                      combine(c, binary_kind::add, start, used, "start_left"), "error");
  }

  int count() {
    const int error = kept_error(), rest = combine(m_c, binary_kind::fmod, m_difference, m_delta, "rest"),
              multiple = combine(m_c, binary_kind::sub, m_difference, rest, "multiple"),
              whole =
                  apply(m_c, combine(m_c, binary_kind::div, multiple, m_delta, "quotient"), function::round, "whole"),
              over = combine(m_c, binary_kind::sub, rest, m_delta, "over");
    const int more = is_ahead(combine(m_c, binary_kind::add, rest, error, "more"), "has_more"),
              one_more = is_ahead(combine(m_c, binary_kind::add, over, error, "one_more"), "has_one_more"),
              length =
                  combine(m_c, binary_kind::add, combine(m_c, binary_kind::add, whole, cast(more, "more_count"), "sum"),
                          cast(one_more, "one_more_count"), "length"),
              nothing = combine(m_c, binary_kind::sub, m_delta, m_delta, "nothing"),
              finite = mask(compare_kind::equal, nothing, m_zero, "finite"),
              exists = combine(m_c, arithmetic_kind::bit_and, is_ahead(m_difference, "ahead"), finite, "exists"),
              count = m_c.temporary("float_count", {1}), integer = m_c.temporary("count", {1}, element::i64);
    m_c.emit(select_params{}, {exists, length, m_zero}, count);
    m_c.emit(cast_params{}, {count}, integer);
    return integer;
  }

 private:
  int mask(compare_kind kind, int a, int b, const std::string& suffix) {
    const int result = m_c.temporary(suffix, {1}, element::boolean);
    m_c.emit(compare_params{kind}, {a, b}, result);
    return result;
  }
  int cast(int x, const std::string& suffix) {
    const int result = m_c.temporary(suffix, {1});
    m_c.emit(cast_params{}, {x}, result);
    return result;
  }
  /// Whether x has the sign of delta.
  int is_ahead(int x, const std::string& suffix) {
    const int signs =
        combine(m_c, binary_kind::mul, apply(m_c, x, function::sign, suffix + "_sign"), m_sign, suffix + "_signs");
    return mask(compare_kind::less, m_zero, signs, suffix);
  }
  /// 0 where float64 would not hold it beside the difference.
  int kept_error() {
    const int large = combine(m_c, binary_kind::mul, apply(m_c, m_error, function::abs, "error_size"),
                              scalar(m_c, "precision", 0x1p53), "scaled_error"),
              result = m_c.temporary("kept_error", {1});
    m_c.emit(select_params{},
             {mask(compare_kind::less, apply(m_c, m_difference, function::abs, "difference_size"), large, "is_held"),
              m_error, m_zero},
             result);
    return result;
  }

  context& m_c;
  int m_delta, m_zero = no_value, m_difference = no_value, m_sign = no_value, m_error = no_value;
};

/// How many elements a Range of int64 has (int64 [1]), all inputs being numbers [1] of int64.
int count_of_integers(context& c, int start, int limit, int delta) {
  const auto number = [&](const char* name, std::int64_t value) {
    return constant_integers(c, name, {1}, element::i64, {value});
  };
  const int zero = number("zero", 0), one = number("one", 1), minus_one = number("minus_one", -1),
            difference = combine(c, arithmetic_kind::sub, limit, start, "difference"),
            rest = combine(c, arithmetic_kind::fmod, difference, delta, "rest"),
            has_more = c.temporary("has_more", {1}, element::boolean), more = c.temporary("more", {1}, element::i64),
            ahead = c.temporary("ahead", {1}, element::boolean), count = c.temporary("count", {1}, element::i64);
  const auto sign = [&](int x, const std::string& name) {
    return combine(c, arithmetic_kind::max, combine(c, arithmetic_kind::min, x, one, name + "_1"), minus_one, name);
  };
  c.emit(compare_params{compare_kind::not_equal}, {rest, zero}, has_more);
  c.emit(cast_params{}, {has_more}, more);
  c.emit(compare_params{compare_kind::less},
         {zero, combine(c, arithmetic_kind::mul, sign(difference, "direction"), sign(delta, "sign"), "signs")}, ahead);
  const int whole = combine(c, arithmetic_kind::div, difference, delta, "quotient");
  c.emit(select_params{}, {ahead, combine(c, arithmetic_kind::add, whole, more, "length"), zero}, count);
  return count;
}

/// start + i delta, as many as there are up to the bound; behind them 0. A gather reads the count from a list of those
/// that are possible: one that is not raises a flag.
void range(context& c) {
  const element type = c.in_type(0);
  const std::int64_t bound = c.op().integer(reference::suppression_bound, -1);
  if (type != element::f32 && !is_computed_integer(type)) c.refuse("float32, int32 and int64 have kernels");
  if (bound < 1) c.refuse("its length is computed at run time");
  const element wide = type == element::i32 ? element::i64 : type;
  int scalars[3];
  for (std::size_t i = 0; i < 3; ++i) {
    scalars[i] = reshaped(c, c.in(i), {1});
    if (type == wide) continue;
    const int narrow = scalars[i];
    scalars[i] = c.temporary("wide" + std::to_string(i), {1}, wide);
    c.emit(cast_params{}, {narrow}, scalars[i]);
  }
  const auto [start, limit, delta] = scalars;
  const int exact =
      wide == element::f32 ? float_range(c, start, limit, delta).count() : count_of_integers(c, start, limit, delta);
  c.charge(3 * static_cast<double>(bound));
  std::vector<std::int64_t> positions(static_cast<std::size_t>(bound) + 1);
  std::iota(positions.begin(), positions.end(), 0);
  const int count = c.temporary("bounded_count", {1}, element::i64);
  c.emit(gather_parameters{0, false}, {constant_integers(c, "counts", {bound + 1}, element::i64, positions), exact},
         count);
  if (c.wants(1)) c.emit(reshape_parameters{}, {count}, c.out(1));
  positions.pop_back();
  const int places = constant_integers(c, "positions", {bound}, element::i64, positions),
            exists = c.temporary("is_counted", {bound}, element::boolean);
  c.emit(compare_params{compare_kind::less}, {places, count}, exists);
  int elements = no_value;
  if (wide == element::f32) {
    const int numbers = constant(c, "numbers", {bound}, {positions.begin(), positions.end()});
    elements = combine(c, binary_kind::add, combine(c, binary_kind::mul, numbers, delta, "offsets"), start, "elements");
  } else {
    elements =
        combine(c, arithmetic_kind::add, combine(c, arithmetic_kind::mul, places, delta, "offsets"), start, "elements");
  }
  if (type != wide) {
    const int all = elements;
    elements = c.temporary("narrow", {bound}, type);
    c.emit(cast_params{}, {all}, elements);
  }
  c.emit(select_params{}, {exists, elements, constant_integers(c, "filler", {1}, type, {0})});
}

}

void add_places(rule_table& t) {
  t["NonZero"] = {non_zero, element_types::any};
  t["Compress"] = {compress, element_types::any};
  t["Range"] = {range, element_types::any};
  t["Col2Im"] = {col_2_im};
}

}
