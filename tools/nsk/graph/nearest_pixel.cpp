// SPDX-License-Identifier: MIT
#include "graph/nearest_pixel.hpp"

#include <algorithm>
#include <cmath>

namespace nsk::tool {
namespace {

/// a * b rounded to float before anything is added to it; the compiler may otherwise fuse the two.
float rounded_product(float a, float b) { return static_cast<float>(static_cast<double>(a) * b); }

float cropped_position(const resized_axis& a, float i) {
  const float last = static_cast<float>(a.in) - 1;
  if (a.out <= 1) return static_cast<float>(0.5 * static_cast<double>(a.start + a.end) * last);
  return rounded_product(a.start, last) +
         rounded_product(i * (a.end - a.start), last) / (static_cast<float>(a.out) - 1);
}

/// ONNX Runtime adds the parts of this one in double precision.
float symmetric_position(const resized_axis& a, float i) {
  const float in = static_cast<float>(a.in), adjustment = static_cast<float>(a.out) / (a.scale * in);
  const float offset = in / 2 * (1 - adjustment);
  return static_cast<float>(offset + (static_cast<double>(i) + 0.5) / static_cast<double>(a.scale) - 0.5);
}

}

float nearest_position(const std::string& coordinates, const resized_axis& a, std::int64_t i) {
  const auto at = static_cast<float>(i), in = static_cast<float>(a.in), out = static_cast<float>(a.out);
  if (coordinates == "asymmetric") return at / a.scale;
  if (coordinates == "align_corners") return a.out == 1 ? 0 : at * (in - 1) / (out - 1);
  if (coordinates == "pytorch_half_pixel" && a.out <= 1) return 0;
  if (coordinates == "tf_half_pixel_for_nn") return (at + 0.5f) / a.scale;
  if (coordinates == "tf_crop_and_resize") return cropped_position(a, at);
  if (coordinates == "half_pixel_symmetric") return symmetric_position(a, at);
  return (at + 0.5f) / a.scale - 0.5f;
}

std::int64_t nearest_pixel(const std::string& rounding, const resized_axis& a, float position) {
  const float low = std::floor(position), fraction = position - low;
  const bool half = std::abs(fraction - 0.5f) <= 1e-6f;
  bool up = fraction > 0.5f;
  if (rounding == "floor" || (rounding == "simple" && a.scale >= 1))
    up = false;
  else if (rounding == "ceil" || rounding == "simple")
    up = fraction > 0;
  else if (half)
    up = rounding == "round_prefer_ceil";
  const std::int64_t picked = static_cast<std::int64_t>(low) + (up ? 1 : 0);
  return std::clamp<std::int64_t>(picked, 0, a.in - 1);
}

}
