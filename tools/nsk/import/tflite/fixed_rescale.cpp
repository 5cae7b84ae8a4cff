// SPDX-License-Identifier: MIT
#include "import/tflite/fixed_rescale.hpp"

#include <algorithm>
#include <cmath>

#include "graph/fixed_point.hpp"
#include "graph/integer_range.hpp"
#include "import/tflite/constants.hpp"
#include "import/tflite/nodes.hpp"

namespace nsk::tool::tflite {

value_id long_constant(call& c, std::int64_t v) { return c.constant(make_ints({}, {v})); }

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

value_id rescaled(call& c, value_id v, double factor, double bound) {
  const fixed_point_multiplier m(factor);
  const int up = std::max(m.exponent(), 0), down = std::max(-m.exponent(), 0);
  c.require(up < 31 && bound * std::ldexp(1.0, up) < 0x1p31,
            "its sums can be beyond int32, where runtimes differ: --dequantize makes the model a float32 one");
  const value_id product = c.emit("Mul", {v, long_constant(c, m.fraction() * (std::int64_t{1} << up))});
  const value_id nudged = c.emit("Add", {product, long_constant(c, std::int64_t{1} << 30)});
  return round_shifted(c, floor_shifted(c, nudged, 31), down);
}

value_id integer_product(call& c, value_id x, int t, int weights) {
  const element type = c.at(x).type;
  array zero(type, {});
  zero.set_integer(0, scale_of(c.tensor(t)).zero[0]);
  const value_id w = transposed(c, c.all().known.integers(weights, false), {1, 0});
  return as_long(c, c.emit("MatMulInteger", {x, w, c.constant(std::move(zero)), c.constant(array(c.at(w).type, {}))}));
}

double product_bound(call& c, int t, int weights) {
  const array stored = decode_tflite(c.tensor(weights), false);
  const std::int64_t rows = stored.shape[0], depth = stored.shape[1], zero = scale_of(c.tensor(t)).zero[0];
  const integer_range range = *range_of_stored(*element_of_tflite(c.tensor(t).data->type()));
  const double reach = static_cast<double>(std::max(range.high - zero, zero - range.low));
  double largest = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t i = 0; i < depth; ++i) sum += std::abs(stored.number(r * depth + i));
    largest = std::max(largest, sum);
  }
  return largest * reach;
}

}
