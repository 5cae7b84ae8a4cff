// SPDX-License-Identifier: MIT
/// Between real and stored numbers: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include "passes/canonicalise/int8_layers.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/byte_steps.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {

integer_range range_of(const context& c, element t) {
  const std::optional<integer_range> range = t == element::u16 ? std::nullopt : range_of_stored(t);
  if (!range) c.refuse(std::string("the engine does not store ") + name_of(t) + ". Quantise the model to 8 bits");
  return *range;
}

int cast_to(context& c, element type, int x, const std::string& suffix, int result) {
  if (c.type(x) == type && result == no_value) return x;
  if (result == no_value) result = c.temporary(suffix, c.shape(x), type);
  c.emit(cast_params{}, {x}, result);
  return result;
}

int combine_exactly(context& c, binary_kind kind, int a, int b, const std::string& suffix, int result) {
  if (result == no_value) result = c.temporary(suffix, broadcast_shape(c, a, b));
  c.emit(binary_params{kind}, {a, b}, result).exact = true;
  return result;
}

void require_scale(const context& c, double scale) {
  if (!(scale >= static_cast<double>(std::numeric_limits<float>::min())) || !std::isfinite(scale))
    c.refuse("one of its scales is not a positive normal number. Quantise the model anew");
}

void store(context& c, int units, int zero, std::size_t i) {
  const element type = c.output(i).type;
  const integer_range range = range_of(c, type);
  int shifted = apply(c, units, function::round, "rounded");
  if (zero != no_value) shifted = combine_exactly(c, binary_kind::add, shifted, zero, "shifted");
  cast_to(c, type,
          apply(c, shifted, function::clip, "stored", static_cast<double>(range.low), static_cast<double>(range.high)),
          "", c.out(i));
}

namespace {

/// Constant input `i` as float32, with as many axes as a tensor of `rank` where it has one number per position of
/// `axis`. Input 1 is a scale.
int constant_along(context& c, std::size_t i, const char* what, std::size_t rank, std::size_t axis) {
  const std::vector<double> values = numbers(c, i, what);
  for (std::size_t k = 0; k < values.size() && i == 1; ++k) require_scale(c, values[k]);
  shape_t shape;
  if (values.size() != 1) {
    shape.assign(rank, 1);
    shape[axis] = static_cast<std::int64_t>(values.size());
  }
  return constant(c, "input" + std::to_string(i), shape, values);
}

/// A scale or zero point of x, input 0: constant or computed, broadcastable to x.
int scale_like(context& c, std::size_t i, const char* what) {
  const shape_t &x = c.in_shape(0), &shape = c.in_shape(i);
  if (c.op().integer("block_size", 0) != 0) c.refuse("blocks of a scale are supported for constants alone");
  const bool single = count_of(shape) == 1;
  const std::size_t axis = single ? 0 : static_cast<std::size_t>(c.axis(c.op().integer("axis", 1), x.size()));
  if (c.input(i).constant) return constant_along(c, i, what, x.size(), axis);
  shape_t wide(single ? 0 : x.size(), 1);
  if (!single) wide[axis] = count_of(shape);
  if (single) wide.assign(1, 1);
  return reshaped(c, cast_to(c, element::f32, c.in(i), "wide" + std::to_string(i)), wide);
}

/// Whether one constant scale and zero point store the numbers of input 0 as steps on bytes want them.
bool has_one_scale(const context& c) {
  const auto single = [&](std::size_t i) { return c.input(i).constant && c.input(i).constant->count() == 1; };
  return c.computes_bytes() && c.op().integer("block_size", 0) == 0 && single(1) && (!c.has(2) || single(2));
}
float one_scale(context& c) {
  const double scale = number(c, 1, "the scale");
  require_scale(c, scale);
  return static_cast<float>(scale);
}
double one_zero(context& c) { return c.has(2) ? number(c, 2, "the zero point") : 0; }

void quantize_linear(context& c) {
  if (has_one_scale(c) && emit_quantize(c, c.in(0), one_scale(c), one_zero(c))) return;
  const int units = combine_exactly(c, binary_kind::div, c.in(0), scale_like(c, 1, "the scale"), "units");
  store(c, units, c.has(2) ? scale_like(c, 2, "the zero point") : no_value, 0);
}

void dequantize_linear(context& c) {
  if (has_one_scale(c) && emit_dequantize(c, c.in(0), one_scale(c), one_zero(c))) return;
  int x = cast_to(c, element::f32, c.in(0), "wide");
  if (c.has(2)) x = combine_exactly(c, binary_kind::sub, x, scale_like(c, 2, "the zero point"), "shifted");
  combine_exactly(c, binary_kind::mul, x, scale_like(c, 1, "the scale"), "", c.out());
}

/// scale = (max(x, 0) - min(x, 0)) / 255, 1 where x is 0 alone; the zero point is what stands for 0.
void dynamic_quantize_linear(context& c) {
  if (c.computes_bytes()) return emit_dynamic_quantize(c);
  const std::int64_t count = count_of(c.in_shape(0));
  const int line = reshaped(c, c.in(0), {count}), none = scalar(c, "none", 0);
  const int low = combine(c, binary_kind::min, reduced(c, reduce_kind::min, line, {0}, "min"), none, "low"),
            high = combine(c, binary_kind::max, reduced(c, reduce_kind::max, line, {0}, "max"), none, "high");
  const int range = combine_exactly(c, binary_kind::sub, high, low, "range"),
            steps = combine_exactly(c, binary_kind::div, range, scalar(c, "steps", 255), "steps_of_range"),
            empty = c.temporary("empty", {1}, element::boolean), scale = c.temporary("scale", {1});
  c.emit(compare_params{compare_kind::equal}, {range, none}, empty);
  c.emit(select_params{}, {empty, constant(c, "one", {1}, {1}), steps}, scale);
  const int below = combine_exactly(c, binary_kind::div, apply(c, low, function::neg, "below"), scale, "zero_units"),
            zero = apply(c, apply(c, below, function::round, "zero_rounded"), function::clip, "zero", 0, 255);
  const int units = combine_exactly(c, binary_kind::div, line, scale, "units");
  const int stored =
      apply(c, combine_exactly(c, binary_kind::add, apply(c, units, function::round, "rounded"), zero, "moved"),
            function::clip, "stored", 0, 255);
  c.emit(reshape_parameters{}, {cast_to(c, element::u8, stored, "bytes")}, c.out());
  if (c.wants(1)) c.emit(reshape_parameters{}, {scale}, c.out(1));
  if (c.wants(2)) c.emit(reshape_parameters{}, {cast_to(c, element::u8, zero, "zero_byte")}, c.out(2));
}

}

void add_int8_layers(rule_table& t) {
  t["QuantizeLinear"] = {quantize_linear};
  t["DequantizeLinear"] = {dequantize_linear, element_types::any};
  t["DynamicQuantizeLinear"] = {dynamic_quantize_linear};
}

}
