// SPDX-License-Identifier: MIT
/// Operators that are a scatter to places that are computed or known: which elements are chosen, windows put back into
/// an image.
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/counting.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

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
  const int places = places_of_chosen(c, mask, n), filled = c.temporary("filled", {rank, n + 1}, element::i64);
  c.charge(static_cast<double>(n) * static_cast<double>(rank));
  std::vector<std::int64_t> coordinates;
  std::int64_t stride = n;
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t length = x[static_cast<std::size_t>(d)];
    stride /= length;
    for (std::int64_t i = 0; i < n; ++i) coordinates.push_back(i / stride % length);
  }
  c.emit(scatter_params{1, scatter_kind::replace},
         {constant_integers(c, "filler", {1, 1}, element::i64, {-1}), reshaped(c, places, {1, n}),
          constant_integers(c, "coordinates", {rank, n}, element::i64, coordinates)},
         filled);
  c.emit(reshape_parameters{}, {part(c, filled, 1, 0, n, "found")});
}

/// Slices along the axis, or elements, that the condition chooses, in order; behind them 0.
void compress(context& c) {
  const node& n = c.op();
  const bool flat = !n.has("axis");
  shape_t x = flat ? shape_t{count_of(c.in_shape(0))} : c.in_shape(0);
  const auto axis = flat ? 0 : static_cast<std::size_t>(c.axis(n.integer("axis", 0), x.size()));
  const std::int64_t count = count_of(c.in_shape(1));
  if (count_of(x) == 0 || count == 0) c.refuse("Compress of nothing has no kernel");
  const int places = places_of_chosen(c, c.in(1), count),
            from = part(c, reshaped(c, c.in(0), x), axis, 0, count, "from");
  shape_t line(x.size(), 1);
  const shape_t one = line;
  line[axis] = count;
  x[axis] = count + 1;
  const int filled = c.temporary("filled", x, c.in_type(0));
  c.emit(scatter_params{static_cast<int>(axis), scatter_kind::replace},
         {constant_integers(c, "filler", one, c.in_type(0), {0}), reshaped(c, places, line), from}, filled);
  c.emit(reshape_parameters{}, {part(c, filled, axis, 0, count, "found")});
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
         {constant(c, "zero", {1, 1}, {0}), constant_integers(c, "at", {1, taps * columns}, element::i64, places),
          reshaped(c, c.in(0), {lines, taps * columns})},
         sums);
  shape_t whole = padded;
  whole.insert(whole.begin(), lines);
  int result = reshaped(c, sums, whole);
  for (std::size_t d = 0; d < axes; ++d)
    result = part(c, result, d + 1, pads[d], image[d], "image" + std::to_string(d));
  c.emit(reshape_parameters{}, {result});
}

}

void add_places(rule_table& t) {
  t["NonZero"] = {non_zero, element_types::any};
  t["Compress"] = {compress, element_types::any};
  t["Col2Im"] = {col_2_im};
}

}
