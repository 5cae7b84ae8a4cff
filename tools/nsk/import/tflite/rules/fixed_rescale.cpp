// SPDX-License-Identifier: MIT
#include "import/tflite/rules/fixed_rescale.hpp"

#include <algorithm>
#include <cmath>

#include "graph/fixed_point.hpp"
#include "graph/integer_range.hpp"
#include "import/tflite/rules/nodes.hpp"

namespace nsk::tool::tflite {

value_id long_constants(call& c, const std::vector<std::int64_t>& numbers) {
  const auto [found, is_new] = c.all().longs.try_emplace(numbers, no_value);
  const bool scalar = numbers.size() == 1;
  if (is_new) {
    const shape_t shape = scalar ? shape_t{} : shape_t{static_cast<std::int64_t>(numbers.size())};
    found->second = c.constant(make_ints(shape, numbers));
  }
  return found->second;
}

value_id long_constant(call& c, std::int64_t v) { return long_constants(c, {v}); }

value_id as_long(call& c, value_id integers) {
  const element type = c.at(integers).type;
  if (type == element::i64) return integers;
  if (type == element::i32) return cast(c, integers, element::i64);
  const value_id zero = c.constant(array(type, {}));
  return cast(c, c.emit("DequantizeLinear", {integers, constant_number(c, 1), zero}), element::i64);
}

value_id saturated_as(call& c, value_id numbers, element type) {
  return c.emit("QuantizeLinear", {cast(c, numbers, element::f32), constant_number(c, 1), c.constant(array(type, {}))});
}

value_id floor_shifted(call& c, value_id v, int bits) {
  if (bits == 0) return v;
  const value_id step = long_constant(c, std::int64_t{1} << bits);
  return c.emit("Div", {c.emit("Sub", {v, c.emit("Mod", {v, step})}), step});
}

value_id round_shifted(call& c, value_id v, int bits) {
  if (bits == 0) return v;
  const value_id below = cast(c, c.emit("Less", {v, long_constant(c, 0)}), element::i64),
                 nudged = c.emit("Add", {v, long_constant(c, std::int64_t{1} << (bits - 1))});
  return floor_shifted(c, c.emit("Sub", {nudged, below}), bits);
}

value_id rescaled(call& c, value_id v, const std::vector<double>& factors, double bound) {
  std::vector<std::int64_t> fraction, half, step, halves;
  bool rounds = false, all_round = true;
  for (const double factor : factors) {
    c.require(factor >= 0 && factor < 0x1p31, "its scales are too far apart. The file is damaged");
    const fixed_point_multiplier m(factor);
    const int up = std::max(m.exponent(), 0), down = std::max(-m.exponent(), 0);
    c.require(up < 31 && bound * std::ldexp(1.0, up) < 0x1p31,
              "its sums can be beyond int32, where runtimes differ: --dequantize makes the model a float32 one");
    fraction.push_back(m.fraction() * (std::int64_t{1} << up));
    half.push_back(down == 0 ? 0 : std::int64_t{1} << (down - 1));
    step.push_back(std::int64_t{1} << down);
    halves.push_back(down == 0 ? 0 : 1);
    rounds = rounds || down > 0;
    all_round = all_round && down > 0;
  }
  const value_id product = c.emit("Mul", {v, long_constants(c, fraction)});
  const value_id first = floor_shifted(c, c.emit("Add", {product, long_constant(c, std::int64_t{1} << 30)}), 31);
  if (!rounds) return first;
  value_id below = cast(c, c.emit("Less", {first, long_constant(c, 0)}), element::i64);
  if (!all_round) below = c.emit("Mul", {below, long_constants(c, halves)});
  const value_id nudged = c.emit("Sub", {c.emit("Add", {first, long_constants(c, half)}), below}),
                 steps = long_constants(c, step);
  return c.emit("Div", {c.emit("Sub", {nudged, c.emit("Mod", {nudged, steps})}), steps});
}

value_id integer_product(call& c, value_id x, std::int64_t zero_point, value_id weights) {
  array zero(c.at(x).type, {});
  zero.set_integer(0, zero_point);
  const value_id none = c.constant(array(c.at(weights).type, {}));
  return as_long(c, c.emit("MatMulInteger", {x, weights, c.constant(std::move(zero)), none}));
}

double product_bound(const array& weights, std::int64_t zero) {
  const std::int64_t rows = weights.shape[0], depth = weights.shape[1];
  const integer_range range = *range_of_stored(element::i8);
  const double reach = static_cast<double>(std::max(range.high - zero, zero - range.low));
  double largest = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t i = 0; i < depth; ++i) sum += std::abs(weights.number(r * depth + i));
    largest = std::max(largest, sum);
  }
  return largest * reach;
}

}
