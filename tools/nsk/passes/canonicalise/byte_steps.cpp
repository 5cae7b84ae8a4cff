// SPDX-License-Identifier: MIT
#include "passes/canonicalise/byte_steps.hpp"

#include <string>

#include "graph/integer_range.hpp"
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"

namespace nsk::tool::canonical {
namespace {

bool is_byte(element t) { return t == element::i8 || t == element::u8; }
int offset_of(element t) { return t == element::i8 ? 128 : 0; }

byte_table_parameters flip() {
  byte_table_parameters t;
  for (std::size_t i = 0; i < t.table.size(); ++i) t.table[i] = static_cast<std::uint8_t>(i ^ 128);
  return t;
}

/// x as kernels take it.
int as_u8(context& c, int x) {
  if (c.type(x) == element::u8) return x;
  const int result = c.temporary("unsigned", c.shape(x), element::u8);
  c.emit(flip(), {x}, result);
  return result;
}

/// Whether a zero point is one of the type's numbers, as every quantiser writes it.
bool is_stored(double zero, element type) {
  const integer_range r = *range_of_stored(type);
  return zero >= static_cast<double>(r.low) && zero <= static_cast<double>(r.high) && zero == std::floor(zero);
}

/// int8 weights, and biases that hold the part of the input's zero point; nothing where int32 may not hold a sum, or
/// its product with the scale.
std::optional<quantized_conv_parameters> integers_of(const integer_weights& w, double zero,
                                                     const std::vector<float>& scale, bool depthwise) {
  constexpr double max_sum = 2147483647.0, max_units = 1073741824.0;  // 2^31 - 1, 2^30
  const std::optional<int> offset = offset_of_weights(w, depthwise);
  if (!offset) return std::nullopt;
  quantized_conv_parameters q;
  q.weight_offset = *offset;
  std::vector<double> bias = w.bias, reach(w.channels, 0.0);
  bias.resize(w.channels, 0.0);
  q.weights.resize(w.values.size());
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    const double weight = w.values[i];
    const std::size_t channel = w.channel_of(i), k = w.by_channel ? i % w.depth : i / w.channels;
    q.weights[channel * w.depth + k] = static_cast<std::int8_t>(weight - *offset);
    bias[channel] -= zero * weight;
    reach[channel] += 255 * (std::abs(weight - *offset) + std::abs(*offset));
  }
  for (std::size_t i = 0; i < w.channels; ++i) {
    const float s = scale[scale.size() == 1 ? 0 : i];
    const double sum = reach[i] + std::abs(bias[i]);
    if (sum > max_sum || sum * static_cast<double>(s) >= max_units) return std::nullopt;
    q.bias.push_back(static_cast<std::int32_t>(bias[i]));
    q.scale.push_back(s);
  }
  q.outputs = static_cast<int>(w.channels);
  return q;
}

/// Whether kernels can add the residual: what it adds is beside sums below 2^30 in int32.
bool takes_residual(context& c, const stored_product& p) {
  constexpr float max_scale = 1 << 20;
  const element type = c.type(p.residual);
  return p.w && is_byte(type) && is_stored(p.residual_zero, type) && std::isnormal(p.residual_scale) &&
         p.residual_scale > 0 && p.residual_scale <= max_scale;
}

/// Emits `p` with the node's bytes, u8 or i8, as its result. `shape` is a copy: making `result` may move the values.
void emit_stored(context& c, operation_parameters p, std::vector<int> inputs, shape_t shape, int result) {
  if (c.type(result) == element::u8 && c.shape(result) == shape) {
    c.emit(std::move(p), std::move(inputs), result);
    return;
  }
  const int bytes = c.temporary("bytes", std::move(shape), element::u8);
  c.emit(std::move(p), std::move(inputs), bytes);
  const int shaped = reshaped(c, bytes, c.shape(result));
  if (c.type(result) == element::u8)
    c.emit(reshape_parameters{}, {shaped}, result);
  else
    c.emit(flip(), {shaped}, result);
}

}

bool is_of_bytes(const context& c, const stored_product& p) {
  const element in = c.type(p.input), out = p.result == no_value ? c.output().type : c.type(p.result);
  return is_byte(in) && is_byte(out) && is_stored(p.input_zero, in) && is_stored(p.zero, out);
}

stored_product unsigned_product(context& c, stored_product p) {
  const element out = c.output().type;
  p.input_zero += offset_of(c.type(p.input));
  p.input = as_u8(c, p.input);
  p.zero += offset_of(out);
  p.result = out == element::u8 ? c.out() : c.temporary("bytes", c.out_shape(), element::u8);
  return p;
}

void finish_unsigned(context& c, int result) {
  if (result != c.out()) c.emit(flip(), {result}, c.out());
}

std::optional<int> offset_of_weights(const integer_weights& w, bool depthwise) {
  const auto [minimum, largest] = std::minmax_element(w.values.begin(), w.values.end());
  const double offset = *minimum < -128 ? *minimum + 128 : *largest > 127 ? *largest - 127 : 0;
  const double maximum = depthwise ? 127 : 128;  // a depthwise kernel multiplies it as an int8
  if (*largest - offset > 127 || *minimum - offset < -128 || offset < -128 || offset > maximum) return std::nullopt;
  return static_cast<int>(offset);
}

bool emit_stored_product(context& c, const integer_weights& w, const stored_product& p) {
  if (!is_of_bytes(c, p)) return false;
  const int result = p.result == no_value ? c.out() : p.result;
  const element in = c.type(p.input), out = c.type(result);
  const std::size_t group_channels = w.depth / w.taps;
  const bool depthwise = group_channels == 1 && w.channels == static_cast<std::size_t>(p.groups),
             adds = p.residual != no_value;
  if (adds && (depthwise || !takes_residual(c, p))) return false;
  if (p.groups > 1 && !depthwise && static_cast<std::int64_t>(group_channels) < min_group_channels) return false;
  if (p.scale.size() != 1 && p.scale.size() != w.channels) return false;
  std::optional<quantized_conv_parameters> q = integers_of(w, p.input_zero + offset_of(in), p.scale, depthwise);
  if (!q) return false;
  q->input_zero = static_cast<int>(p.input_zero) + offset_of(in);
  q->range.zero = static_cast<int>(p.zero) + offset_of(out);
  q->groups = p.groups;
  c.charge(static_cast<double>(w.values.size()) / 4);
  int x = as_u8(c, p.input);
  shape_t shape = c.shape(result);
  if (p.w) {
    q->w = *p.w;
  } else {
    // rows are images of one pixel
    q->w.kernel_h = q->w.kernel_w = 1;
    const std::int64_t depth = static_cast<std::int64_t>(w.depth), rows = count_of(c.shape(x)) / depth;
    x = reshaped(c, x, {rows, depth, 1, 1});
    shape = {rows, q->outputs, 1, 1};
  }
  std::vector<int> inputs = {x};
  if (adds) {
    q->residual_scale = p.residual_scale;
    q->residual_zero = static_cast<int>(p.residual_zero) + offset_of(c.type(p.residual));
    inputs.push_back(as_u8(c, p.residual));
  }
  emit_stored(c, *std::move(q), std::move(inputs), shape, result);
  return true;
}

bool emit_integer_sums(context& c, const integer_weights& w, int x, int zero, const std::optional<window>& window,
                       int groups) {
  constexpr double max_input = 255, max_sum = 2147483647.0;
  const std::size_t group_channels = w.depth / w.taps;
  if (!is_byte(c.type(x)) || (groups > 1 && static_cast<std::int64_t>(group_channels) < min_group_channels))
    return false;
  // sums with and without the zero point, in int32 both
  if (2 * w.bound(max_input) > max_sum) return false;
  integer_conv_parameters p;
  p.outputs = static_cast<int>(w.channels);
  p.groups = groups;
  p.dense = !window;
  p.w = window.value_or(nsk::window());
  p.weights.resize(w.values.size());
  p.sums.assign(w.channels, 0);
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    if (w.values[i] < -128 || w.values[i] > 127) return false;
    const std::size_t channel = w.channel_of(i), k = w.by_channel ? i % w.depth : i / w.channels;
    p.weights[channel * w.depth + k] = static_cast<std::int8_t>(w.values[i]);
    p.sums[channel] += static_cast<std::int32_t>(w.values[i]);
  }
  c.charge(static_cast<double>(w.values.size()) / 4);
  c.emit(std::move(p), {as_u8(c, x), zero});
  return true;
}

void emit_dynamic_quantize(context& c) {
  const int x = c.in_shape(0).empty() ? reshaped(c, c.in(0), {1}) : c.in(0), range = c.temporary("range", {2});
  c.emit(dynamic_range_params{}, {x}, range);
  const int scale = part(c, range, 0, 0, 1, "scale"), zero = part(c, range, 0, 1, 1, "zero");
  emit_stored(c, dynamic_quantize_params{}, {x, scale, zero}, c.shape(x), c.out());
  if (c.wants(1)) c.emit(reshape_parameters{}, {scale}, c.out(1));
  if (!c.wants(2)) return;
  const int byte = c.temporary("zero_byte", {1}, element::u8);
  c.emit(cast_params{}, {zero}, byte);
  c.emit(reshape_parameters{}, {byte}, c.out(2));
}

int zero_of_bytes(context& c, std::size_t i, element type) {
  const std::string name = "zero" + std::to_string(i);
  if (!c.has(i)) return constant(c, name, {1}, {static_cast<double>(offset_of(type))});
  if (c.input(i).constant)
    return constant(c, name, {1}, {number(c, i, "the zero point") + static_cast<double>(offset_of(type))});
  // what emit_dynamic_quantize made, before it became a byte
  int v = c.in(i);
  const std::vector<operation>& made = c.made().operations;
  for (auto o = made.rbegin(); o != made.rend() && type == element::u8; ++o) {
    if (o->output != v) continue;
    if (o->as<reshape_parameters>())
      v = o->inputs[0];
    else if (o->as<cast_params>() && c.type(o->inputs[0]) == element::f32 && c.shape(o->inputs[0]) == shape_t{1})
      return o->inputs[0];
    else
      break;
  }
  const int zero = c.temporary(name, {1});
  c.emit(cast_params{}, {reshaped(c, c.in(i), {1})}, zero);
  return type == element::u8 ? zero
                             : combine(c, binary_kind::add, zero, scalar(c, name + "_offset", 128), name + "_u8");
}

bool emit_fixed_point_sum(context& c, fixed_point_sum s) {
  const element type = c.output().type;
  if (!c.computes_bytes() || !is_byte(type) || c.in_type(0) != type || c.in_type(1) != type) return false;
  const int offset = offset_of(type);  // kernels see a number that is so much larger
  s.bias -= offset * (s.a_multiplier + s.b_multiplier);
  quantized_binary_params p;
  p.a_scale = p.b_scale = p.scale = 0;
  p.zero = static_cast<std::int32_t>(s.zero) + offset;
  p.a_multiplier = static_cast<std::int32_t>(s.a_multiplier);
  p.b_multiplier = static_cast<std::int32_t>(s.b_multiplier);
  p.bias = static_cast<std::int32_t>(s.bias);
  p.shift = s.shift;
  const int a = as_u8(c, c.in(0)), b = as_u8(c, c.in(1));
  emit_stored(c, p, {a, b}, c.out_shape(), c.out());
  return true;
}

bool emit_quantize(context& c, int x, float scale, double zero) {
  const element type = c.output().type;
  if (!is_byte(type) || !is_stored(zero, type)) return false;
  emit_stored(c, quantize_params{scale, static_cast<std::int32_t>(zero) + offset_of(type), 0, 255}, {x}, c.shape(x),
              c.out());
  return true;
}

bool emit_dequantize(context& c, int x, float scale, double zero) {
  const element type = c.type(x);
  if (!is_byte(type) || !is_stored(zero, type)) return false;
  c.emit(dequantize_params{scale, static_cast<std::int32_t>(zero)}, {x});
  return true;
}

bool emit_look_up(context& c) {
  const value& data = c.input(0);
  if (!c.computes_bytes() || !data.constant || data.shape != shape_t{256} || !is_byte(data.type)) return false;
  const int place = c.in(1);
  const std::vector<operation>& made = c.made().operations;
  const auto cast = std::find_if(made.rbegin(), made.rend(), [&](const operation& o) { return o.output == place; });
  if (cast == made.rend() || !cast->as<cast_params>() || !is_byte(c.type(cast->inputs[0]))) return false;
  byte_table_parameters t;
  for (std::size_t i = 0; i < t.table.size(); ++i)  // a negative index counts from the end, as bits of int8 do
    t.table[i] = static_cast<std::uint8_t>(data.constant->integer(static_cast<std::int64_t>(i)));
  c.emit(t, {cast->inputs[0]});
  return true;
}

bool emit_channel_tables(context& c) {
  const value& tables = c.input(1);
  if (!c.computes_bytes() || !tables.constant) return false;
  byte_table_parameters t;
  t.axis = c.axis(c.op().integer("axis", 1), c.in_shape(0).size());
  for (std::int64_t i = 0; i < tables.constant->count(); ++i)
    t.channels.push_back(static_cast<std::uint8_t>(tables.constant->integer(i)));
  c.charge(static_cast<double>(t.channels.size()) / 4);
  c.emit(std::move(t), {c.in(0)});
  return true;
}

void emit_limit(context& c, bool largest, int x, std::int64_t limit, int result) {
  const int offset = offset_of(c.type(x));
  byte_table_parameters t;
  for (int i = 0; i < 256; ++i) {
    const std::int64_t number = offset != 0 && i > 127 ? i - 256 : i,
                       chosen = largest ? std::max(number, limit) : std::min(number, limit);
    t.table[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(chosen);
  }
  c.emit(t, {x}, result);
}

}
