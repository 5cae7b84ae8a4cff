// SPDX-License-Identifier: MIT
#include "import/tflite/rules/operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/nodes.hpp"

namespace nsk::tool::tflite {

std::vector<std::int64_t> integers(call& c, int t, const char* what) {
  const auto who = [&] { return std::string(what) + " ('" + c.tensor(t).name + "')"; };
  if (!c.is_constant(t)) c.fail(who() + " is computed at run time; it must be a constant of the model");
  const array& a = *c.at(c.plain(t)).constant;
  if (!is_integer(a.type)) c.fail(who() + " holds no integers");
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < a.count(); ++i) result.push_back(std::clamp(a.integer(i), -far_away, far_away));
  return result;
}

std::int64_t integer(call& c, int t, const char* what) {
  const std::vector<std::int64_t> given = integers(c, t, what);
  if (given.size() != 1) c.fail(std::string(what) + " must be one number");
  return given[0];
}

double number(call& c, int t, const char* what) {
  if (!c.is_constant(t) || c.at(c.plain(t)).constant->count() != 1)
    c.fail(std::string(what) + " ('" + c.tensor(t).name + "') must be one constant number");
  return c.at(c.plain(t)).constant->number(0);
}

std::vector<std::int64_t> listed_integers(const flatbuffers::Vector<std::int64_t>* list) {
  std::vector<std::int64_t> numbers(list == nullptr ? 0 : list->size());
  if (!numbers.empty()) std::memcpy(numbers.data(), list->Data(), numbers.size() * sizeof(std::int64_t));
  return numbers;
}

std::size_t axis_of(const call& c, std::int64_t axis, std::size_t rank) {
  const auto length = static_cast<std::int64_t>(rank);
  if (axis < -length || axis >= length)
    c.fail("axis " + std::to_string(axis) + " is outside a tensor of " + std::to_string(rank) + " dimensions");
  return static_cast<std::size_t>(axis < 0 ? axis + length : axis);
}

std::int64_t image_axis(std::size_t axis) {
  constexpr std::int64_t place[] = {0, 2, 3, 1};
  return place[axis];
}

bool prefer_images(const call& c, const std::vector<int>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [&](int t) { return c.rank(t) <= 4; }) &&
         std::any_of(tensors.begin(), tensors.end(), [&](int t) { return c.is_image(t); });
}

value_id operand(call& c, int t, bool images) {
  if (!images || c.rank(t) == 0) return c.plain(t);
  if (c.rank(t) == 4) return c.image(t);
  shape_t wide(4 - c.rank(t), 1);
  wide.insert(wide.end(), c.shape(t).begin(), c.shape(t).end());
  return transposed(c, reshaped(c, c.plain(t), wide), channels_to_front);
}

void require_unquantized(const call& c) {
  for (const auto* tensors : {&c.op().inputs, &c.op().outputs})
    for (const int t : *tensors)
      if (t >= 0 && is_quantized(c.tensor(t)))
        c.fail("'" + c.tensor(t).name +
               "' is quantised, and it has no meaning on stored integers. Export it in float32");
}

namespace {

/// The scales of sums, those of the input times those of the weights; nothing where only one of the two is stored.
std::vector<float> scales_of_sums(const call& c, int x, int weights) {
  if (!is_quantized(c.tensor(x)) || !is_quantized(c.tensor(weights))) return {};
  const std::vector<float> of_x = scale_of(c.tensor(x)).scale, of_weights = scale_of(c.tensor(weights)).scale;
  c.require(of_x.size() == 1, "its input is an activation with a scale per channel. The file is damaged");
  std::vector<float> product;
  for (const float s : of_weights) product.push_back(s * of_x[0]);
  return product;
}

/// Whether the file stores a bias in units of the sums. Refuses what LiteRT refuses, where the bias has one scale.
bool has_scales_of_sums(const call& c, int bias, const std::vector<float>& sums) {
  constexpr double tolerance = 1e-5, smallest = 1e-44;  // of roundings, of the subnormal ones
  constexpr double max_steps = 0.02;                    // of the result's, that LiteRT takes
  const bool stored = is_quantized(c.tensor(bias));
  const std::vector<float> own = stored ? scale_of(c.tensor(bias)).scale : std::vector<float>{0};
  const std::size_t count = std::max(own.size(), sums.size());
  bool agrees = (own.size() == 1 || own.size() == count) && (sums.size() == 1 || sums.size() == count);
  double apart = 0;
  for (std::size_t i = 0; agrees && i < count; ++i) {
    const double product = sums[i % sums.size()],
                 difference = std::abs(static_cast<double>(own[i % own.size()]) - product);
    apart = std::max(apart, difference);
    agrees = stored && difference <= tolerance * product + smallest;
  }
  const bool by_channel = c.name() != "FULLY_CONNECTED" && c.tensor(c.output()).data->type() != tfl::TensorType::UINT8;
  if (agrees || by_channel || sums.size() != 1 || !is_quantized(c.tensor(c.output()))) return agrees;
  if (apart > max_steps * static_cast<double>(scale_of(c.tensor(c.output())).scale[0]))
    c.fail("the scale of its bias '" + c.tensor(bias).name +
           "' is not that of its input times that of its weights, by which runtimes take it. The file is damaged");
  return false;
}

/// A bias whose integers are in units of the sums, as runtimes add them, whatever the file says.
value_id bias_in_sums(call& c, int t, const std::vector<float>& sums) {
  array stored = decode_tflite(c.tensor(t), false);
  const std::int64_t count = static_cast<std::int64_t>(sums.size());
  c.require(stored.shape.size() == 1 && (count == 1 || count == stored.count()),
            "its weights have another number of scales than its bias has numbers. The file is damaged");
  c.all().odd_biases.insert(c.tensor(t).name);
  if (c.options_of_import().dequantize) {
    array real(element::f32, stored.shape);
    for (std::int64_t i = 0; i < stored.count(); ++i)
      real.set(i, static_cast<double>(sums[static_cast<std::size_t>(i % count)]) * stored.number(i));
    return c.constant(std::move(real));
  }
  const shape_t shape = count == 1 ? shape_t{} : shape_t{count};
  const value_id zero = c.constant(array(stored.type, shape));
  return c.all().made.emit_kept("DequantizeLinear",
                                {c.all().known.integers(t, false), c.constant(make_floats(shape, sums)), zero},
                                {{"axis", std::int64_t{0}}});
}

}

value_id bias_of(call& c, std::size_t i, int x, int weights) {
  if (!c.has(i)) return no_value;
  const int t = c.input(i);
  const auto type = c.tensor(t).data->type();
  if (const std::vector<float> sums = scales_of_sums(c, x, weights);
      !sums.empty() && c.tensor(t).bytes != nullptr &&
      (type == tfl::TensorType::INT32 || type == tfl::TensorType::INT64) && !has_scales_of_sums(c, t, sums))
    return bias_in_sums(c, t, sums);
  if (c.type(t) != element::f32)
    c.fail("the bias '" + c.tensor(t).name + "' is " + name_of(c.tensor(t).data->type()) +
           " without a scale. The file is damaged");
  return c.is_constant(t) ? c.layer_constant(t, {}) : c.plain(t);
}

}
