// SPDX-License-Identifier: MIT
#include "passes/canonicalise/counting.hpp"

#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"

namespace nsk::tool::canonical {
namespace {

constexpr std::int64_t block = 64;

/// Sums of x [n, width] over all elements up to each one of its row: a product with a triangle of ones.
int sums_of_rows(context& c, int x, std::int64_t n, std::int64_t width, const std::string& suffix) {
  c.charge(static_cast<double>(width) * static_cast<double>(width));
  dense_parameters d;
  d.depth = d.outputs = static_cast<int>(width);
  for (std::int64_t k = 0; k < width; ++k)
    for (std::int64_t i = 0; i < width; ++i) d.weights.push_back(k <= i ? 1 : 0);
  d.bias.assign(static_cast<std::size_t>(width), 0);
  const int sums = c.temporary("sums" + suffix, {n, width});
  c.emit(std::move(d), {x}, sums);
  return sums;
}

}

int running_sums(context& c, int x, std::int64_t n, const std::string& suffix) {
  if (n <= block) return reshaped(c, sums_of_rows(c, reshaped(c, x, {1, n}), 1, n, suffix), {n});
  const std::int64_t blocks = (n + block - 1) / block, rest = blocks * block - n;
  if (rest > 0) {
    const std::vector<double> zeros(static_cast<std::size_t>(rest), 0);
    x = appended(c, 0, x, constant(c, "zeros" + suffix, {rest}, zeros), "whole" + suffix);
  }
  const int within = sums_of_rows(c, reshaped(c, x, {blocks, block}), blocks, block, suffix);
  const int totals = reshaped(c, part(c, within, 1, block - 1, 1, "totals" + suffix), {blocks});
  const int through = running_sums(c, totals, blocks, suffix + "+"),
            before = combine(c, binary_kind::sub, through, totals, "before" + suffix),
            all = combine(c, binary_kind::add, within, reshaped(c, before, {blocks, 1}), "all" + suffix);
  return part(c, reshaped(c, all, {blocks * block}), 0, 0, n, "each" + suffix);
}

int places_of_chosen(context& c, int mask, std::int64_t n) {
  const int numbers = c.temporary("numbers", {n}), chosen = c.temporary("places", {n}),
            places = c.temporary("integers", {n}, element::i64);
  c.emit(cast_params{}, {mask}, numbers);
  const int place = combine(c, binary_kind::sub, running_sums(c, numbers, n), scalar(c, "one", 1), "place");
  c.emit(select_params{}, {mask, place, scalar(c, "behind", static_cast<double>(n))}, chosen);
  c.emit(cast_params{}, {chosen}, places);
  return places;
}

}
