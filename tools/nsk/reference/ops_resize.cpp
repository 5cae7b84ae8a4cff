// SPDX-License-Identifier: MIT
/// Resize and Upsample. Resampling is separable: each axis has, for every output position, a few input positions with
/// weights. Where a pixel is chosen by a position, ONNX's real numbers leave open what runtimes do: their choice is
/// that of ONNX Runtime, whose single precision is followed operation by operation. Attribute position_steps, which the
/// importer of TensorFlow Lite gives, rounds positions of linear resampling to so many steps of a pixel.
#include <algorithm>
#include <cmath>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

/// What one axis does.
struct axis_plan {
  i64 in = 1, out = 1;
  double scale = 1, roi_start = 0, roi_end = 1;
};

struct resampling {
  std::vector<axis_plan> axes;
  std::string mode, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0, steps = 0;
  bool exclude_outside = false, antialias = false;
};

bool is_old(const call& c) { return c.op().op == "Upsample" || c.op().version < 11; }

/// Scales per listed axis; empty where sizes are given.
std::vector<double> read_scales(const call& c) {
  const auto found = c.op().attributes.find("scales");
  if (c.op().op == "Upsample" && c.op().version < 9 && found != c.op().attributes.end()) {
    const auto* list = std::get_if<std::vector<float>>(&found->second);
    c.require(list != nullptr, "attribute 'scales' must be a list of floats");
    return {list->begin(), list->end()};
  }
  const std::size_t at = is_old(c) ? 1 : 2;
  return c.has(at) ? c.number_list(at) : std::vector<double>();
}

/// One scale for all axes: "not_larger" takes the smallest of those that the sizes ask for, "not_smaller" the greatest.
void keep_aspect_ratio(const call& c, resampling& r, const std::vector<std::size_t>& axes) {
  const std::string policy = c.op().text("keep_aspect_ratio_policy", "stretch");
  c.require(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
            "attribute 'keep_aspect_ratio_policy' has an unknown value");
  if (policy == "stretch" || axes.empty()) return;
  for (const std::size_t a : axes) c.require(r.axes[a].in > 0, "a size is not positive");
  double scale = r.axes[axes[0]].scale;
  for (std::size_t a : axes)
    scale = policy == "not_larger" ? std::min(scale, r.axes[a].scale) : std::max(scale, r.axes[a].scale);
  for (std::size_t a : axes) {
    c.require(scale * static_cast<double>(r.axes[a].in) < 2147483648.0, "a length of its result is 2^31 or more");
    r.axes[a].scale = scale;
    r.axes[a].out = static_cast<i64>(std::round(static_cast<float>(scale) * static_cast<float>(r.axes[a].in)));
  }
}

void read_axes(const call& c, resampling& r) {
  const std::size_t rank = c.rank(0);
  r.axes.resize(rank);
  for (std::size_t d = 0; d < rank; ++d) r.axes[d].in = r.axes[d].out = c.shape(0)[d];
  std::vector<std::size_t> axes;
  for (i64 a : c.op().integers("axes")) axes.push_back(c.axis(a, rank));
  if (axes.empty())
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(d);

  std::vector<double> scales = read_scales(c);
  const std::vector<i64> sizes = scales.empty() && c.has(3) ? c.integer_list(3) : std::vector<i64>();
  c.require(scales.empty() != sizes.empty(), "it needs either scales or sizes");
  c.require((scales.empty() ? sizes.size() : scales.size()) == axes.size(),
            "scales or sizes must have one value per axis");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axis_plan& a = r.axes[axes[i]];
    if (scales.empty()) {
      const bool has_none = sizes[i] == 0 && a.in == 0;  // an axis without positions stays one
      c.require(has_none || (sizes[i] > 0 && sizes[i] < (i64{1} << 31) && a.in > 0), "a size is not positive");
      a.out = sizes[i];
      a.scale = has_none ? 1 : static_cast<double>(a.out) / static_cast<double>(a.in);
    } else {
      c.require(scales[i] > 0 && scales[i] * static_cast<double>(a.in) < 2147483648.0,
                "a scale is not positive, or too large");
      a.scale = scales[i];
      a.out = static_cast<i64>(std::floor(static_cast<float>(scales[i]) *
                                          static_cast<float>(a.in)));  // in float, as in ONNX's own shape inference
    }
  }
  if (scales.empty()) keep_aspect_ratio(c, r, axes);
  for (const axis_plan& a : r.axes)
    c.require(r.coordinates != "align_corners" ||
                  std::abs(a.scale * static_cast<double>(a.in) - static_cast<double>(a.out)) <= 1e-3,
              "align_corners with a scale that does not give a whole length: ONNX's specification and ONNX Runtime "
              "disagree about it. Export with sizes instead of scales");
  if (r.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = c.number_list(1);
    c.require(roi.size() == 2 * axes.size(), "roi must have a start and an end per axis");
    for (const double v : roi) c.require(std::fabs(v) <= 65536, "roi is not finite, or too far away");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      r.axes[axes[i]].roi_start = roi[i];
      r.axes[axes[i]].roi_end = roi[axes.size() + i];
    }
    const bool resized = std::any_of(r.axes.begin(), r.axes.end(), [](const axis_plan& a) { return a.in != a.out; });
    for (const axis_plan& a : r.axes)
      c.require((resized && a.scale != 1) || (a.roi_start == 0 && a.roi_end == 1),
                "tf_crop_and_resize of a region along an axis that keeps its length: ONNX's specification crops, ONNX "
                "Runtime does not. Cut the region out with Slice");
  }
}

resampling read_resampling(const call& c) {
  resampling r;
  const bool old = is_old(c);
  r.mode = c.op().text("mode", "nearest");
  if (r.mode == "bilinear" && old) r.mode = "linear";
  c.require(r.mode == "nearest" || r.mode == "linear" || r.mode == "cubic",
            "attribute 'mode' must be nearest, linear or cubic");
  r.coordinates = old ? "asymmetric" : c.op().text("coordinate_transformation_mode", "half_pixel");
  r.nearest = c.op().text("nearest_mode", "round_prefer_floor");
  r.cubic = c.op().number("cubic_coeff_a", -0.75f);
  r.steps = static_cast<double>(c.op().integer("position_steps", 0));
  r.extrapolation = c.op().number("extrapolation_value", 0);
  r.exclude_outside = c.op().integer("exclude_outside", 0) != 0;
  r.antialias = c.op().integer("antialias", 0) != 0;
  for (const char* known : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                            "tf_half_pixel_for_nn", "tf_crop_and_resize", ""}) {
    c.require(*known != '\0', "attribute 'coordinate_transformation_mode' has an unknown value");
    if (r.coordinates == known) break;
  }
  for (const char* known : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", ""}) {
    c.require(*known != '\0', "attribute 'nearest_mode' has an unknown value");
    if (r.nearest == known) break;
  }
  if (old) r.nearest = "simple";
  read_axes(c, r);
  return r;
}

void infer_resize(call& c) {
  c.require_inputs(1, 4);
  shape_t shape;
  for (const axis_plan& a : read_resampling(c).axes) shape.push_back(a.out);
  c.declare(0, c.type(0), shape);
}

/// Where output position `i` is in the input. Where a scale gives no whole length, half_pixel_symmetric alone sees
/// the length before it was rounded, as in ONNX Runtime.
double source_position(const resampling& r, const axis_plan& a, double i) {
  const double in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  if (r.coordinates == "asymmetric") return i / a.scale;
  if (r.coordinates == "align_corners") return out == 1 ? 0 : i * (in - 1) / (out - 1);
  if (r.coordinates == "pytorch_half_pixel") return out > 1 ? (i + 0.5) / a.scale - 0.5 : 0;
  if (r.coordinates == "tf_half_pixel_for_nn") return (i + 0.5) / a.scale;
  if (r.coordinates == "half_pixel_symmetric") return in / 2 * (1 - out / (a.scale * in)) + (i + 0.5) / a.scale - 0.5;
  if (r.coordinates == "tf_crop_and_resize") {
    if (out == 1) return 0.5 * (a.roi_start + a.roi_end) * (in - 1);
    return a.roi_start * (in - 1) + i * (a.roi_end - a.roi_start) * (in - 1) / (out - 1);
  }
  return (i + 0.5) / a.scale - 0.5;
}

/// source_position() as ONNX Runtime computes it in single precision: what decides between pixels.
float single_position(const resampling& r, const axis_plan& a, i64 index) {
  const float in = static_cast<float>(a.in), out = static_cast<float>(a.out), i = static_cast<float>(index),
              scale = static_cast<float>(a.scale);
  if (r.coordinates == "asymmetric") return i / scale;
  if (r.coordinates == "align_corners") return a.out == 1 ? 0.0f : i * (in - 1.0f) / (out - 1.0f);
  if (r.coordinates == "tf_half_pixel_for_nn") return (i + 0.5f) / scale;
  if (r.coordinates == "pytorch_half_pixel" && a.out <= 1) return 0.0f;
  if (r.coordinates == "half_pixel_symmetric") {
    const float adjustment = out / (scale * in), offset = in / 2.0f * (1.0f - adjustment);
    return static_cast<float>(offset + (index + 0.5) / scale - 0.5);
  }
  if (r.coordinates == "tf_crop_and_resize") {
    const float start = static_cast<float>(a.roi_start), end = static_cast<float>(a.roi_end);
    if (a.out <= 1) return static_cast<float>(0.5 * (start + end) * (in - 1.0f));
    const volatile float first = start * (in - 1.0f);  // rounded before it is added to
    return first + (i * (end - start) * (in - 1.0f)) / (out - 1.0f);
  }
  return (i + 0.5f) / scale - 0.5f;
}

/// The whole number that `x` becomes; ONNX Runtime takes for a half what is within 1e-6 of it.
float rounded(const resampling& r, const axis_plan& a, float x) {
  if (r.nearest == "simple") return a.scale < 1 ? std::ceil(x) : std::floor(x);
  if (r.nearest == "floor") return std::floor(x);
  if (r.nearest == "ceil") return std::ceil(x);
  if (std::fabs(x - std::floor(x) - 0.5f) <= 1e-6f)
    return r.nearest == "round_prefer_ceil" ? std::ceil(x) : std::floor(x);
  return std::round(x);
}

/// The interpolating kernels at distance t: a triangle, and a cubic.
double kernel(const resampling& r, double t) {
  return r.mode == "linear" ? std::max(1 - std::fabs(t), 0.0) : cubic_kernel(r.cubic, t);
}

struct weighted {
  i64 at;
  double weight;
};

/// What one output position reads. With antialias a shrinking axis stretches the kernel by 1 / scale.
std::vector<weighted> sample(const resampling& r, const axis_plan& a, i64 index) {
  const auto clamped = [&](double at) { return static_cast<i64>(std::clamp(at, 0.0, static_cast<double>(a.in - 1))); };
  if (r.mode == "nearest") return {{clamped(rounded(r, a, single_position(r, a, index))), 1}};
  const double exact = source_position(r, a, static_cast<double>(index)),
               x = r.mode == "linear" && r.steps > 0 ? std::nearbyint(exact * r.steps) / r.steps : exact;
  const double shrink = r.antialias ? std::min(a.scale, 1.0) : 1, support = (r.mode == "linear" ? 1 : 2) / shrink;
  std::vector<weighted> taps;
  double sum = 0;
  for (double at = std::floor(x - support) + 1; at < x + support; ++at) {
    const bool outside = at < 0 || at > static_cast<double>(a.in - 1);
    const double weight = r.exclude_outside && outside ? 0 : kernel(r, (at - x) * shrink);
    taps.push_back({clamped(at), weight});
    sum += weight;
  }
  if ((r.exclude_outside || r.antialias) && sum != 0)
    for (weighted& t : taps) t.weight /= sum;
  return taps;
}

/// Resamples one axis of a row-major array of `shape`, whose length along `axis` becomes out.
std::vector<double> resample(const resampling& r, const std::vector<double>& x, const shape_t& shape,
                             std::size_t axis) {
  const axis_plan& a = r.axes[axis];
  const i64 outer = count_between(shape, 0, axis), inner = count_between(shape, axis + 1, shape.size());
  std::vector<double> y(static_cast<std::size_t>(outer * a.out * inner), 0.0);
  for (i64 i = 0; i < a.out; ++i) {
    const float position = single_position(r, a, i);
    const bool extrapolated =
        r.coordinates == "tf_crop_and_resize" && (position < 0 || position > static_cast<float>(a.in - 1));
    const std::vector<weighted> taps = sample(r, a, i);
    for (i64 o = 0; o < outer; ++o) {
      double* to = &y[static_cast<std::size_t>((o * a.out + i) * inner)];
      for (const weighted& t : taps) {
        const double* from = &x[static_cast<std::size_t>((o * a.in + t.at) * inner)];
        for (i64 k = 0; k < inner; ++k) to[k] += t.weight * from[k];
      }
      if (extrapolated) std::fill_n(to, inner, r.extrapolation);
    }
  }
  return y;
}

void evaluate_resize(call& c) {
  if (c.out(0).count() == 0) return;
  const resampling r = read_resampling(c);
  std::vector<double> x = c.number_list(0);
  shape_t shape = c.shape(0);
  const bool resized = c.shape(0) != c.out(0).shape;  // else nothing moves, whatever the scales are
  for (std::size_t d = 0; resized && d < shape.size(); ++d) {
    const axis_plan& a = r.axes[d];
    if (a.scale == 1) continue;
    x = resample(r, x, shape, d);
    shape[d] = a.out;
  }
  for (i64 i = 0; i < c.out(0).count(); ++i) c.out(0).set(i, x[static_cast<std::size_t>(i)]);
}

/// What is between two axes may be larger than input and output: its elements weigh as much as those that are kept.
double work_of_resize(call& c) {
  constexpr double per_element = 64, per_tap = 2;
  const resampling r = read_resampling(c);
  double work = 0, elements = as_work(count_of(c.shape(0)));
  for (const axis_plan& a : r.axes) {
    if (a.in == 0) return 0;
    const double taps = r.mode == "nearest" ? 1 : 4 / (r.antialias ? std::min(a.scale, 1.0) : 1.0);
    elements = elements / as_work(a.in) * as_work(a.out);
    work += elements * (per_element + per_tap * taps) + per_element * as_work(a.out) * taps;
  }
  return work;
}

}

void add_resize(table& t) {
  t["Resize"] = {infer_resize, evaluate_resize, 10, work_of_resize};
  t["Upsample"] = {infer_resize, evaluate_resize, 7, work_of_resize};
}

}
