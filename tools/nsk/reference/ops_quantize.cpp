// SPDX-License-Identifier: MIT
/// Between real and stored numbers: real = scale * (stored - zero point), with one scale, one per position of an axis,
/// or one per block of it. Storing rounds as ONNX Runtime does: in float32, halves to even, within the integer's range;
/// NaN becomes its lower limit. FixedPointAdd, which the importer of TensorFlow Lite makes, is LiteRT's sum of two
/// tensors of stored integers: saturate(zero + floor((a * a_multiplier + b * b_multiplier + bias) / 2^shift)).
/// ChannelTables, which resolve() and that importer make, is a table of 256 numbers for each position of an axis, in
/// the order of the bits of the stored integers that look them up. DoublyRounded is a sum, difference or product as
/// TensorFlow Lite's reference kernels compute it: operands 2^20 times as large and in units of twice the larger scale,
/// each product rounded twice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include "graph/fixed_point.hpp"
#include "graph/onnx_type.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

/// Which scale belongs to an element.
struct scale_places {
  std::int64_t inner = 1, length = 1, block = 0, blocks = 1;

  std::int64_t of(std::int64_t i) const {
    const std::int64_t along = i / inner % length;
    return block > 0 ? (i / inner / length * blocks + along / block) * inner + i % inner : along;
  }
};

scale_places places_of(const call& c) {
  const shape_t &x = c.shape(0), &scale = c.shape(1);
  if (count_of(scale) == 1) return {std::max<std::int64_t>(1, count_of(x)), 1, 0, 1};
  const std::size_t axis = c.axis(c.op().integer("axis", 1), x.size());
  const std::int64_t block = c.op().integer("block_size", 0);
  return {count_between(x, axis + 1, x.size()), x[axis], block, block > 0 ? scale[axis] : x[axis]};
}

/// Refuses scales and zero points of shapes that x does not have. The zero point is input 2.
void require_scales(const call& c) {
  const shape_t &x = c.shape(0), &scale = c.shape(1);
  const bool like_scale = !c.has(2) || c.shape(2) == scale || (count_of(scale) == 1 && count_of(c.shape(2)) == 1);
  c.require(like_scale, "the zero point must be like the scale and x");
  if (count_of(scale) == 1 && scale.size() <= 1) return;
  const std::size_t axis = c.axis(c.op().integer("axis", 1), x.size());
  const std::int64_t block = c.op().integer("block_size", 0);
  shape_t blocks = x;
  c.require(block >= 0 && block <= std::numeric_limits<std::int32_t>::max(), "block_size is out of range");
  if (block > 0) blocks[axis] = (x[axis] + block - 1) / block;
  c.require(scale == (block > 0 ? blocks : shape_t{x[axis]}), "the scale has a wrong shape");
}

void infer_dequantize(call& c) {
  c.require_inputs(2, 3);
  c.require(is_integer(c.type(0)) || is_float(c.type(0)), "it has a kernel for numbers");
  c.require_float(1);
  c.require(!c.has(2) || c.type(2) == c.type(0), "the zero point must be like the scale and x");
  require_scales(c);
  c.declare(0, c.type(1), c.shape(0));
}

void evaluate_dequantize(call& c) {
  const scale_places places = places_of(c);
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    const std::int64_t s = places.of(i);
    const double zero = c.has(2) ? c.data(2).number(s) : 0;
    c.out_floats()[i] = (c.data(0).number(i) - zero) * c.floats(1)[s];
  }
}

element stored_type(const call& c) {
  const std::int64_t named = c.op().integer("output_dtype", 0);
  if (c.has(2)) return c.type(2);
  const std::optional<element> t = named == 0 ? element::u8 : element_of_onnx(named);
  if (!t) c.fail("attribute 'output_dtype' names a type that is not supported");
  return *t;
}

void infer_quantize(call& c) {
  c.require_inputs(2, 3);
  c.require_float(0);
  c.require_float(1);
  const element to = stored_type(c);
  c.require(range_of_stored(to).has_value(), "it stores 8- and 16-bit integers");
  require_scales(c);
  c.declare(0, to, c.shape(0));
}

void evaluate_quantize(call& c) {
  const scale_places places = places_of(c);
  const integer_range range = *range_of_stored(stored_type(c));
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    const std::int64_t s = places.of(i);
    c.out_integers()[i] = stored(static_cast<float>(c.floats(0)[i]) / static_cast<float>(c.floats(1)[s]),
                                 c.has(2) ? c.integers(2)[s] : 0, range);
  }
}

void infer_dynamic(call& c) {
  c.require_inputs(1, 1);
  c.require_float(0);
  c.declare(0, element::u8, c.shape(0));
  c.declare(1, c.type(0), {});
  c.declare(2, element::u8, {});
}

/// scale = (max(x, 0) - min(x, 0)) / 255; the zero point is what stands for 0.
void evaluate_dynamic(call& c) {
  const double* x = c.floats(0);
  const std::int64_t count = c.data(0).count();
  float low = 0, high = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    low = std::min(low, static_cast<float>(x[i]));
    high = std::max(high, static_cast<float>(x[i]));
  }
  const integer_range range = *range_of_stored(element::u8);
  const float scale = high == low ? 1.0f : (high - low) / 255.0f;
  const std::int64_t zero = stored((0 - low) / scale, 0, range);
  if (c.wants(1)) *c.out_floats(1) = static_cast<double>(scale);
  if (c.wants(2)) *c.out_integers(2) = zero;
  for (std::int64_t i = 0; i < count; ++i) c.out_integers()[i] = stored(static_cast<float>(x[i]) / scale, zero, range);
}

void infer_fixed_point(call& c) {
  c.require_inputs(2, 2);
  c.require(range_of_stored(c.type(0)).has_value() && c.type(0) == c.type(1), "it adds stored integers of one type");
  const std::int64_t shift = c.op().integer("shift", 0), maximum = std::int64_t{1} << 21;
  for (const char* name : {"a_multiplier", "b_multiplier"})
    c.require(std::abs(c.op().integer(name, 0)) <= maximum, "a multiplier is beyond 2^21");
  c.require(shift >= 10 && shift <= 31, "its shift is not 10 to 31");
  c.require(std::abs(c.op().integer("bias", 0)) < std::int64_t{1} << 31, "its bias is beyond int32");
  const std::int64_t zero = c.op().integer("zero", 0);
  c.require(zero >= range_of_stored(c.type(0))->low && zero <= range_of_stored(c.type(0))->high,
            "its zero point is none of its type");
  c.declare(0, c.type(0), broadcast(c, c.shape(0), c.shape(1)));
}

void evaluate_fixed_point(call& c) {
  const node& n = c.op();
  const std::int64_t left = n.integer("a_multiplier", 0), right = n.integer("b_multiplier", 0),
                     bias = n.integer("bias", 0), shift = n.integer("shift", 0), zero = n.integer("zero", 0);
  const integer_range range = *range_of_stored(c.type(0));
  const std::int64_t *a = c.integers(0), *b = c.integers(1);
  std::int64_t* y = c.out_integers();
  for_each_pair(c, [&](std::int64_t i, std::int64_t at_a, std::int64_t at_b) {
    const std::int64_t sum = a[at_a] * left + bias + b[at_b] * right;
    y[i] = std::clamp(floor_shift(sum, static_cast<int>(shift)) + zero, range.low, range.high);
  });
}

void infer_channel_tables(call& c) {
  c.require_inputs(2, 2);
  for (const std::size_t i : {0, 1})
    c.require(c.type(i) == element::i8 || c.type(i) == element::u8, "it has tables of 8-bit integers");
  const std::size_t axis = c.axis(c.op().integer("axis", 1), c.rank(0));
  c.require(c.shape(1) == shape_t{c.shape(0)[axis], 256}, "it has 256 numbers for each position of its axis");
  c.declare(0, c.type(1), c.shape(0));
}

void evaluate_channel_tables(call& c) {
  const std::size_t axis = c.axis(c.op().integer("axis", 1), c.rank(0));
  const std::int64_t inner = count_between(c.shape(0), axis + 1, c.rank(0)), length = c.shape(0)[axis];
  for (std::int64_t i = 0; i < c.out(0).count(); ++i)
    c.out_integers()[i] = c.integers(1)[i / inner % length * 256 + (c.integers(0)[i] & 255)];
}

void infer_doubly_rounded(call& c) {
  c.require_inputs(2, 2);
  c.require(range_of_stored(c.type(0)).has_value() && c.type(0) == c.type(1), "it takes stored integers of one type");
  for (const char* name : {"a_scale", "b_scale", "y_scale"})
    c.require(std::isnormal(c.op().number(name, 0)) && c.op().number(name, 0) > 0, "a scale is not positive");
  c.declare(0, c.type(0), broadcast(c, c.shape(0), c.shape(1)));
}

void evaluate_doubly_rounded(call& c) {
  constexpr std::int64_t step = std::int64_t{1} << 20;
  const node& n = c.op();
  const float a_scale = n.number("a_scale", 0), b_scale = n.number("b_scale", 0), y_scale = n.number("y_scale", 0);
  const std::int64_t a_zero = n.integer("a_zero", 0), b_zero = n.integer("b_zero", 0), zero = n.integer("y_zero", 0),
                     sign = n.text("kind", "") == "SUB" ? -1 : 1;
  const bool multiplies = n.text("kind", "") == "MUL";
  const double twice = static_cast<double>(2 * std::max(a_scale, b_scale));
  const fixed_point_multiplier left(static_cast<double>(a_scale) / twice), right(static_cast<double>(b_scale) / twice),
      result(twice / (static_cast<double>(step) * static_cast<double>(y_scale))),
      product(static_cast<double>(a_scale * b_scale / y_scale));
  const integer_range range = *range_of_stored(c.type(0));
  const std::int64_t *a = c.integers(0), *b = c.integers(1);
  std::int64_t* y = c.out_integers();
  for_each_pair(c, [&](std::int64_t i, std::int64_t at_a, std::int64_t at_b) {
    const std::int64_t x = a[at_a] - a_zero, z = b[at_b] - b_zero;
    const std::int64_t units =
        multiplies ? product.of(x * z) : result.of(left.of(x * step) + sign * right.of(z * step));
    y[i] = std::clamp(units + zero, range.low, range.high);
  });
}

}

std::int64_t stored(float units, std::int64_t zero_point, integer_range range) {
  const double rounded = std::nearbyint(static_cast<double>(units)) + static_cast<double>(zero_point);
  if (!(rounded > static_cast<double>(range.low))) return range.low;
  return rounded < static_cast<double>(range.high) ? static_cast<std::int64_t>(rounded) : range.high;
}

void add_quantize(table& t) {
  t["DequantizeLinear"] = {infer_dequantize, evaluate_dequantize, 10};
  t["QuantizeLinear"] = {infer_quantize, evaluate_quantize, 10};
  t["netsuke.ChannelTables"] = {infer_channel_tables, evaluate_channel_tables, 1};
  t["netsuke.DoublyRounded"] = {infer_doubly_rounded, evaluate_doubly_rounded, 1};
  t["netsuke.FixedPointAdd"] = {infer_fixed_point, evaluate_fixed_point, 1};
  t["DynamicQuantizeLinear"] = {infer_dynamic, evaluate_dynamic, 11};
}

}
