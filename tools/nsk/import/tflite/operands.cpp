// SPDX-License-Identifier: MIT
#include "import/tflite/operands.hpp"

#include <algorithm>
#include <cmath>

#include "import/tflite/constants.hpp"
#include "import/tflite/nodes.hpp"

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

/// Runtimes add the integers of a bias to sums, which have the scales of input and weights, whatever its own one says.
void require_scale_of_sums(const call& c, int bias, int x, int weights) {
  constexpr double tolerance = 1e-5, smallest = 1e-44;  // of roundings, of the subnormal ones
  if (!is_quantized(c.tensor(bias)) || !is_quantized(c.tensor(x)) || !is_quantized(c.tensor(weights))) return;
  const auto own = scale_of(c.tensor(bias)).scale, of_x = scale_of(c.tensor(x)).scale,
             of_weights = scale_of(c.tensor(weights)).scale;
  const std::size_t count = std::max(own.size(), of_weights.size());
  bool agrees = of_x.size() == 1 && (own.size() == 1 || own.size() == count) &&
                (of_weights.size() == 1 || of_weights.size() == count);
  for (std::size_t i = 0; agrees && i < count; ++i) {
    const double product = static_cast<double>(of_x[0]) * static_cast<double>(of_weights[i % of_weights.size()]);
    agrees = std::abs(static_cast<double>(own[i % own.size()]) - product) <= tolerance * product + smallest;
  }
  if (!agrees)
    c.fail("the scale of its bias '" + c.tensor(bias).name +
           "' is not that of its input times that of its weights, by which runtimes take it. The file is damaged");
}

value_id bias_of(call& c, std::size_t i, int x, int weights) {
  if (!c.has(i)) return no_value;
  const int t = c.input(i);
  require_scale_of_sums(c, t, x, weights);
  if (c.type(t) != element::f32)
    c.fail("the bias '" + c.tensor(t).name + "' is " + name_of(c.tensor(t).data->type()) +
           " without a scale. The file is damaged");
  return c.is_constant(t) ? c.layer_constant(t, {}) : c.plain(t);
}

}
