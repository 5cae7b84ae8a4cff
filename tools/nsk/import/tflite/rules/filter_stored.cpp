// SPDX-License-Identifier: MIT
/// SVDF on stored integers: a product with the input, rounded to the int16 of the state; a weighted sum of what the
/// state holds over time, rounded to the bytes of the result. The result has no activation of its own: its integers
/// begin at 0.
#include <cmath>

#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/fixed_rescale.hpp"
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/recurrent_stored.hpp"

namespace nsk::tool::tflite {
namespace {

constexpr double state_range = 32768;

/// The largest sum of |weights| of an output, and of its bias.
double sum_bound(const array& weights, const array* bias, std::int64_t outputs) {
  const std::int64_t each = outputs == 0 ? 0 : weights.count() / outputs;
  double largest = 0;
  for (std::int64_t o = 0; o < outputs; ++o) {
    double sum = bias == nullptr ? 0 : std::abs(bias->number(o));
    for (std::int64_t i = 0; i < each; ++i) sum += state_range * std::abs(weights.number(o * each + i));
    largest = std::max(largest, sum);
  }
  return largest;
}

}

float own_scale(call& c, int t, tfl::TensorType type, bool any_zero) {
  const bool fits = is_quantized(c.tensor(t)) && c.tensor(t).data->type() == type;
  if (!fits || scale_of(c.tensor(t)).scale.size() != 1 || (!any_zero && scale_of(c.tensor(t)).zero[0] != 0))
    c.fail("'" + c.tensor(t).name + "' is not " + name_of(type) + " of one scale" +
           (any_zero ? "" : " and the zero point 0") +
           ", which this layer of stored integers needs: --dequantize makes the model a float32 one");
  return scale_of(c.tensor(t)).scale[0];
}

void filter_stored(call& c) {
  using type = tfl::TensorType;
  const int x = c.input(0), features = c.input(1), time = c.input(2), state = c.input(4), y = c.output();
  const std::int64_t per_output = c.options<tfl::SVDFOptions>().rank();
  c.require(c.rank(x) == 2 && c.rank(features) == 2 && c.rank(time) == 2, "its operands must have two dimensions");
  const std::int64_t batch = c.shape(x)[0], filters = c.shape(features)[0], length = c.shape(time)[1];
  c.require(filters > 0 && length > 0 && per_output > 0 && filters % per_output == 0 &&
                c.shape(features)[1] == c.shape(x)[1] && c.shape(time)[0] == filters &&
                c.shape(state) == shape_t{batch, filters * length} && c.tensor(state).data->is_variable() &&
                c.is_constant(features) && c.is_constant(time),
            "its operands do not fit each other. The file is damaged");
  c.require(
      c.options<tfl::SVDFOptions>().fused_activation_function() == tfl::Activation::RELU,
      "its activation is not RELU, which LiteRT asks of such a layer: --dequantize makes the model a float32 one");
  const std::int64_t outputs = filters / per_output;
  const float held_scale = own_scale(c, state, type::INT16, false),
              first = own_scale(c, x, type::INT8, true) * own_scale(c, features, type::INT8, false) / held_scale,
              second = held_scale * own_scale(c, time, type::INT16, false) / own_scale(c, y, type::INT8, true);
  const value_id weights_in = c.all().known.integers(features, false);
  const std::int64_t zero = scale_of(c.tensor(x)).zero[0];
  const value_id product =
      integer_product(c, c.all().known.integers(x, false), zero, transposed(c, weights_in, {1, 0}));
  const double reach = product_bound(*c.at(weights_in).constant, zero);
  value_id held = saturated_as(c, rescaled(c, product, {static_cast<double>(first)}, reach), element::i16);
  held = reshaped(c, held, {batch, filters, 1});
  if (length > 1) {
    const value_id before = reshaped(c, c.all().known.integers(state, false), {batch, filters, length});
    const value_id kept =
        c.emit("Slice", {before, constant_integers(c, {1}), constant_integers(c, {length}), constant_integers(c, {2})});
    held = joined(c, {kept, held}, 2);
  }
  const shape_t grouped = {batch, outputs, per_output * length};
  array weights = decode_tflite(c.tensor(time), false), longs(element::i64, {1, outputs, per_output * length});
  for (std::int64_t i = 0; i < longs.count(); ++i) longs.set_integer(i, weights.integer(i));
  array bias(element::i64, {outputs});
  if (c.has(3)) {
    const tflite_tensor& b = c.tensor(c.input(3));
    c.require(b.bytes != nullptr && b.data->type() == type::INT32 && c.shape(c.input(3)) == shape_t{outputs},
              "its bias is no constant of int32 for each output. The file is damaged");
    const array stored = decode_tflite(b, false);
    for (std::int64_t i = 0; i < outputs; ++i) bias.set_integer(i, stored.integer(i));
  }
  const double bound = sum_bound(longs, &bias, outputs);
  const value_id weighted = c.emit("Mul", {as_long(c, reshaped(c, held, grouped)), c.constant(std::move(longs))});
  value_id sum = c.emit("ReduceSum", {weighted, constant_integers(c, {2})}, {{"keepdims", std::int64_t{0}}});
  if (c.has(3)) sum = c.emit("Add", {sum, c.constant(std::move(bias))});
  const value_id result = c.emit(
      "Add", {rescaled(c, sum, {static_cast<double>(second)}, bound), long_constant(c, scale_of(c.tensor(y)).zero[0])});
  c.all().known.write_integers(state, reshaped(c, held, {batch, filters * length}));
  c.all().known.bind_integers(y, saturated_as(c, result, element::i8), false);
}

}
