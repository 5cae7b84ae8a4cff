// SPDX-License-Identifier: MIT
#include "import/tflite/rules/stored.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "graph/fixed_point.hpp"
#include "graph/integer_range.hpp"
#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"

namespace nsk::tool::tflite {
namespace {

/// How a tensor stores numbers in bytes.
struct byte_form {
  element type;
  float scale;
  std::int64_t zero;

  integer_range range() const { return *range_of_stored(type); }
  std::int64_t stored(float real) const {
    const double number = std::nearbyint(static_cast<double>(real / scale)) + static_cast<double>(zero);
    return static_cast<std::int64_t>(
        std::clamp(number, static_cast<double>(range().low), static_cast<double>(range().high)));
  }
};
std::optional<byte_form> byte_form_of(const call& c, int t) {
  if (!c.is_stored(t)) return std::nullopt;
  const std::optional<element> type = element_of_tflite(c.tensor(t).data->type());
  if (type != element::i8 && type != element::u8) return std::nullopt;
  if (c.tensor(t).data->type() == tfl::TensorType::INT4) return std::nullopt;
  const stored_scale s = scale_of(c.tensor(t));
  if (s.scale.size() != 1 || !std::isnormal(s.scale[0]) || !(s.scale[0] > 0)) return std::nullopt;
  const integer_range range = *range_of_stored(*type);
  if (s.zero[0] < range.low || s.zero[0] > range.high) return std::nullopt;
  return byte_form{*type, s.scale[0], s.zero[0]};
}

value_id stored_number(call& c, element type, std::int64_t v) {
  array a(type, {});
  a.set_integer(0, v);
  return c.constant(std::move(a));
}

/// Stored integers within the limits of an activation.
value_id limited(call& c, value_id v, const byte_form& y, tfl::Activation a) {
  std::int64_t low = y.range().low, high = y.range().high;
  if (a == tfl::Activation::RELU || a == tfl::Activation::RELU6) low = y.stored(0);
  if (a == tfl::Activation::RELU_N1_TO_1) low = y.stored(-1);
  if (a == tfl::Activation::RELU6) high = y.stored(6);
  if (a == tfl::Activation::RELU_N1_TO_1) high = y.stored(1);
  if (low > y.range().low) v = c.emit("Max", {v, stored_number(c, y.type, low)});
  if (high < y.range().high) v = c.emit("Min", {v, stored_number(c, y.type, high)});
  return v;
}
bool has_limits(tfl::Activation a) {
  return a == tfl::Activation::NONE || a == tfl::Activation::RELU || a == tfl::Activation::RELU6 ||
         a == tfl::Activation::RELU_N1_TO_1;
}

/// Stored integers of an operand, as `operand` has real numbers.
value_id stored_operand(call& c, int t, bool images) {
  const bool image = images && c.rank(t) == 4;
  const value_id v = c.all().known.integers(t, image);
  if (v == no_value || !images || c.rank(t) == 0 || image) return v;
  shape_t wide(4 - c.rank(t), 1);
  wide.insert(wide.end(), c.shape(t).begin(), c.shape(t).end());
  return transposed(c, reshaped(c, v, wide), channels_to_front);
}

/// Stored integers as real numbers of scale 1 and zero point 0, and back by steps of `scale`.
value_id as_numbers(call& c, value_id integers, element type) {
  return c.emit("DequantizeLinear", {integers, constant_number(c, 1), stored_number(c, type, 0)});
}
value_id as_integers(call& c, value_id numbers, element type, double scale) {
  return c.emit("QuantizeLinear", {numbers, constant_number(c, scale), stored_number(c, type, 0)});
}

/// A sum, difference or product of the reference kernels.
bool doubly_rounded(call& c, tfl::Activation activation) {
  const auto a = byte_form_of(c, c.input(0)), b = byte_form_of(c, c.input(1)), y = byte_form_of(c, c.output());
  if (!a || !b || !y || a->type != y->type || b->type != y->type || !has_limits(activation)) return false;
  const bool images = prefer_images(c, {c.input(0), c.input(1)});
  const value_id x = stored_operand(c, c.input(0), images), z = stored_operand(c, c.input(1), images);
  if (x == no_value || z == no_value) return false;
  const value_id result = c.emit("netsuke.DoublyRounded", {x, z},
                                 {{"kind", c.name()},
                                  {"a_scale", a->scale},
                                  {"a_zero", a->zero},
                                  {"b_scale", b->scale},
                                  {"b_zero", b->zero},
                                  {"y_scale", y->scale},
                                  {"y_zero", y->zero}});
  c.all().known.bind_integers(c.output(), limited(c, result, *y, activation), images);
  return true;
}

}

/// XNNPACK's sum: multipliers of 20 bits, the larger one's first bit set, and the sum's halves rounded upwards.
bool add_stored(call& c, tfl::Activation activation) {
  if (c.options_of_import().reference) return doubly_rounded(c, activation);
  if (c.name() == "MUL") return false;  // float32's rounding is XNNPACK's, but for a few in a million
  const auto a = byte_form_of(c, c.input(0)), b = byte_form_of(c, c.input(1)), y = byte_form_of(c, c.output());
  if (!a || !b || !y || a->type != y->type || b->type != y->type || !has_limits(activation)) return false;
  constexpr float min_ratio = 1.0f / 1024, end_ratio = 256;  // what XNNPACK takes
  const float left = a->scale / y->scale, right = b->scale / y->scale;
  for (const float ratio : {left, right})
    if (ratio < min_ratio || ratio >= end_ratio) return false;
  const bool images = prefer_images(c, {c.input(0), c.input(1)});
  const value_id x = stored_operand(c, c.input(0), images), z = stored_operand(c, c.input(1), images);
  if (x == no_value || z == no_value) return false;
  const int shift = 20 - std::ilogb(std::max(left, right));
  const auto multiplier = [&](float ratio) {
    return static_cast<std::int64_t>(std::nearbyint(std::ldexp(static_cast<double>(ratio), shift)));
  };
  const std::int64_t m = multiplier(left), n = c.name() == "SUB" ? -multiplier(right) : multiplier(right);
  const value_id sum = c.emit("netsuke.FixedPointAdd", {x, z},
                              {{"a_multiplier", m},
                               {"b_multiplier", n},
                               {"bias", (std::int64_t{1} << (shift - 1)) - m * a->zero - n * b->zero},
                               {"shift", static_cast<std::int64_t>(shift)},
                               {"zero", y->zero}});
  c.all().known.bind_integers(c.output(), limited(c, sum, *y, activation), images);
  return true;
}

/// TensorFlow Lite's mean of the stored integers: halves away from 0. A step a little less than 1 does that, because
/// what is no half is further from one than it moves.
bool average_stored(call& c, const attributes& window, std::int64_t taps, tfl::Activation activation) {
  const auto x = byte_form_of(c, c.input(0)), y = byte_form_of(c, c.output());
  constexpr std::int64_t end_taps = 4096;
  if (!x || !y || x->type != y->type || x->scale != y->scale || x->zero != y->zero || taps >= end_taps ||
      !has_limits(activation))
    return false;
  const value_id integers = c.all().known.integers(c.input(0), k_image);
  if (integers == no_value) return false;
  const value_id mean = c.emit("AveragePool", {as_numbers(c, integers, x->type)}, window);
  const value_id stored = as_integers(c, mean, y->type, 1 - std::ldexp(1.0, -20));
  c.all().known.bind_integers(c.output(), limited(c, stored, *y, activation), k_image);
  return true;
}

/// XNNPACK's resampling: positions of 11 bits, halves upwards, which counted from the minimum of the type is away from
/// 0. The step is the largest float below 1 by which every half becomes more than one.
bool resize_stored(call& c, attributes resize, const std::vector<std::int64_t>& sizes) {
  const auto x = byte_form_of(c, c.input(0)), y = byte_form_of(c, c.output());
  if (!x || !y || x->type != y->type || x->scale != y->scale || x->zero != y->zero) return false;
  const value_id integers = c.all().known.integers(c.input(0), k_image);
  if (integers == no_value) return false;
  const value_id minimum = stored_number(c, x->type, x->range().low),
                 numbers = c.emit("DequantizeLinear", {integers, constant_number(c, 1), minimum});
  resize["position_steps"] = std::int64_t{2048};
  const value_id resampled =
      c.emit("Resize", {numbers, no_value, no_value, constant_integers(c, sizes)}, std::move(resize));
  const value_id stored = c.emit("QuantizeLinear", {resampled, constant_number(c, 1 - std::ldexp(1.0, -23)), minimum});
  c.all().known.bind_integers(c.output(), stored, k_image);
  return true;
}

/// XNNPACK's mean adds the zero point before it rounds: halves become even stored integers. That matters where both
/// scales are the same, and is as if the zero points were 0.
bool mean_stored(call& c, const std::vector<std::int64_t>& axes, bool keeps_axes, bool images) {
  const auto x = byte_form_of(c, c.input(0)), y = byte_form_of(c, c.output());
  if (!x || !y || x->type != y->type || x->scale != y->scale || x->zero != y->zero) return false;
  const value_id integers = stored_operand(c, c.input(0), images);
  if (integers == no_value || axes.empty()) return false;
  const value_id mean = c.emit("ReduceMean", {as_numbers(c, integers, x->type), constant_integers(c, axes)},
                               {{"keepdims", std::int64_t{keeps_axes}}});
  c.all().known.bind_integers(c.output(), as_integers(c, mean, y->type, 1), images && keeps_axes);
  return true;
}

namespace {

using byte_function = std::function<std::int64_t(std::int64_t)>;  ///< of x less its zero point; y less its own

/// XNNPACK's step to another scale, a multiplier of 8 bits after the point; TensorFlow Lite's where that does not take
/// the scales.
byte_function requantisation(const byte_form& x, const byte_form& y, bool reference) {
  const float ratio = x.scale / y.scale;
  if (!reference && x.type == y.type && ratio >= 1.0f / 256 && ratio <= 128) {
    const auto multiplier = static_cast<std::int64_t>(std::nearbyint(256 * ratio));
    return [multiplier](std::int64_t v) { return floor_shift(v * multiplier + 128, 8); };
  }
  const fixed_point_multiplier m(static_cast<double>(x.scale) / static_cast<double>(y.scale));
  return [m](std::int64_t v) { return m.of(v); };
}

/// XNNPACK's; TensorFlow Lite's where that does not take the scales.
byte_function leaky_relu(call& c, const byte_form& x, const byte_form& y) {
  const float alpha = c.options<tfl::LeakyReluOptions>().alpha(), ratio = x.scale / y.scale, below = ratio * alpha;
  constexpr float min_ratio = 1.0f / 256, end_ratio = 127.998f;
  if (c.options_of_import().reference || ratio < min_ratio || ratio > end_ratio || std::abs(below) < min_ratio ||
      std::abs(below) > end_ratio) {
    const fixed_point_multiplier up(static_cast<double>(ratio)), down(static_cast<double>(x.scale * alpha / y.scale));
    return [up, down](std::int64_t v) { return (v >= 0 ? up : down).of(v); };
  }
  const auto up = static_cast<std::int64_t>(std::nearbyint(256 * ratio)),
             down = static_cast<std::int64_t>(std::nearbyint(256 * below));
  return [up, down](std::int64_t v) { return floor_shift(v * (v >= 0 ? up : down) + 128, 8); };
}

/// TensorFlow Lite's limits and change of scale in one.
byte_function rectified(const byte_form& x, const byte_form& y, double high) {
  const fixed_point_multiplier m(static_cast<double>(x.scale / y.scale));
  const std::int64_t maximum = std::isinf(high) ? 255 : static_cast<std::int64_t>(std::round(high / y.scale));
  return [m, maximum](std::int64_t v) { return std::clamp<std::int64_t>(m.of(v), 0, maximum); };
}

std::optional<byte_function> function_named(call& c, const byte_form& x, const byte_form& y) {
  constexpr double none = std::numeric_limits<double>::infinity();
  if (c.name() == "QUANTIZE") return requantisation(x, y, c.options_of_import().reference);
  if (x.type != y.type) return std::nullopt;
  if (c.name() == "LEAKY_RELU") return leaky_relu(c, x, y);
  if (c.name() == "RELU") return rectified(x, y, none);
  if (c.name() == "RELU6") return rectified(x, y, 6);
  if (c.name() == "HARD_SWISH") {
    const hard_swish_multipliers h(x.scale, y.scale);
    if (!h.is_valid()) return std::nullopt;
    return [h](std::int64_t v) { return h.of(v); };
  }
  return std::nullopt;
}

}

/// TensorFlow Lite's own: two multipliers of 31 bits, one of them for products with a slope.
bool prelu_stored(call& c) {
  const auto x = byte_form_of(c, c.input(0)), slope = byte_form_of(c, c.input(1)), y = byte_form_of(c, c.output());
  if (!x || !slope || !y || x->type != y->type || !c.is_constant(c.input(1))) return false;
  const shape_t &shape = c.shape(c.input(0)), &slopes = c.shape(c.input(1));
  const std::int64_t channels = count_of(slopes);
  constexpr std::int64_t max_channels = 4096;
  if (shape.size() < 2 || slopes.empty() || slopes.size() > shape.size() || slopes.back() != channels ||
      shape.back() != channels || channels > max_channels)
    return false;
  const bool images = prefer_images(c, {c.input(0)}) && c.rank(c.input(0)) == 4;
  const value_id integers = c.all().known.integers(c.input(0), images);
  if (integers == no_value || c.at(integers).constant) return false;
  const array values = decode_tflite(c.tensor(c.input(1)), false);
  const auto wide = [](float f) { return static_cast<double>(f); };
  const fixed_point_multiplier up(wide(x->scale) / wide(y->scale)),
      down(wide(x->scale) * wide(slope->scale) / wide(y->scale));
  array tables(y->type, {channels, 256});
  for (std::int64_t k = 0; k < channels * 256; ++k) {
    const std::int64_t i = k % 256, v = (x->type == element::i8 && i > 127 ? i - 256 : i) - x->zero,
                       steps = v >= 0 ? up.of(v) : down.of(v * (values.integer(k / 256) - slope->zero));
    tables.set_integer(k, std::clamp(steps + y->zero, y->range().low, y->range().high));
  }
  const auto axis = static_cast<std::int64_t>(images ? 1 : shape.size() - 1);
  c.all().known.bind_integers(
      c.output(), c.emit("netsuke.ChannelTables", {integers, c.constant(std::move(tables))}, {{"axis", axis}}), images);
  return true;
}

bool function_of_stored(call& c) {
  if (c.op().inputs.size() != 1) return false;
  const auto x = byte_form_of(c, c.input(0)), y = byte_form_of(c, c.output());
  if (!x || !y) return false;
  const bool keeps_scale = stored_alike(c.tensor(c.input(0)), c.tensor(c.output()));
  if (keeps_scale && c.name() != "LEAKY_RELU" && c.name() != "HARD_SWISH") return false;
  const std::optional<byte_function> f = function_named(c, *x, *y);
  if (!f) return false;
  const bool images = prefer_images(c, {c.input(0)}) && c.rank(c.input(0)) == 4;
  const value_id integers = c.all().known.integers(c.input(0), images);
  if (integers == no_value || c.at(integers).constant) return false;
  array table(y->type, {256});
  for (std::int64_t i = 0; i < 256; ++i) {  // a negative index counts from the end, as bits of int8 do
    const std::int64_t number = x->type == element::i8 && i > 127 ? i - 256 : i;
    table.set_integer(i, std::clamp((*f)(number - x->zero) + y->zero, y->range().low, y->range().high));
  }
  const value_id place = cast(c, integers, element::i32);
  c.all().known.bind_integers(
      c.output(), c.emit("Gather", {c.constant(std::move(table)), place}, {{"axis", std::int64_t{0}}}), images);
  return true;
}

}
