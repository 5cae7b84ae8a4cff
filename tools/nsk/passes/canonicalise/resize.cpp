// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include "graph/nearest_pixel.hpp"
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {
namespace {

struct resampling {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool exclude_outside = false, antialias = false;
  double start = 0, end = 1;  ///< region of tf_crop_and_resize along the axis at hand
  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

/// Position in the input of output sample `i` (ONNX Resize, coordinate_transformation_mode).
double source_position(const resampling& r, double i, double in, double out, double scale) {
  if (r.coordinates == "asymmetric") return i / scale;
  if (r.crops())
    return out == 1 ? 0.5 * (r.start + r.end) * (in - 1)
                    : r.start * (in - 1) + i * (r.end - r.start) * (in - 1) / (out - 1);
  if (r.coordinates == "align_corners") return out == 1 ? 0 : i * (in - 1) / (out - 1);
  if (r.coordinates == "pytorch_half_pixel") return out > 1 ? (i + 0.5) / scale - 0.5 : 0;
  if (r.coordinates == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
  if (r.coordinates == "half_pixel_symmetric") {
    const double adjustment = out / (scale * in);
    return in / 2 * (1 - adjustment) + (i + 0.5) / scale - 0.5;
  }
  return (i + 0.5) / scale - 0.5;
}

/// Keys' cubic convolution at distance t (1981).
double cubic_kernel(double a, double t) {
  t = std::abs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/// Taps and weights of one output sample, before clamping of the indices. With antialias a shrinking axis widens the
/// kernel.
void sample(const resampling& r, double x, std::int64_t length, double scale, std::vector<std::int64_t>& index,
            std::vector<double>& weight) {
  index.clear();
  weight.clear();
  const bool linear = r.mode == "linear";
  const double stretch = r.antialias && scale < 1 ? 1 / scale : 1, support = (linear ? 1 : 2) * stretch;
  double sum = 0;
  for (double at = std::floor(x - support) + 1; at < x + support; ++at) {
    const double distance = (at - x) / stretch;
    const bool outside = at < 0 || at >= static_cast<double>(length);
    index.push_back(static_cast<std::int64_t>(at));
    weight.push_back(r.exclude_outside && outside ? 0
                     : linear                     ? std::max(0.0, 1 - std::abs(distance))
                                                  : cubic_kernel(r.cubic, distance));
    sum += weight.back();
  }
  if ((r.exclude_outside || r.antialias) && sum != 0)
    for (double& w : weight) w /= sum;
}

/// Taps and weights of one output position.
struct tap_list {
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};

resize_axis make_axis(const resampling& r, int axis, std::int64_t in, std::int64_t out, double scale) {
  const resized_axis single{in, out, static_cast<float>(scale), static_cast<float>(r.start), static_cast<float>(r.end)};
  std::vector<tap_list> positions(static_cast<std::size_t>(out));
  std::size_t taps = 1;
  for (std::int64_t i = 0; i < out; ++i) {
    tap_list& p = positions[static_cast<std::size_t>(i)];
    const float nearest = nearest_position(r.coordinates, single, i);
    if (r.mode == "nearest")
      p = {{nearest_pixel(r.nearest, single, nearest)}, {1.0}};
    else
      sample(r, source_position(r, static_cast<double>(i), static_cast<double>(in), static_cast<double>(out), scale),
             in, scale, p.index, p.weight);
    if (r.crops() && (nearest < 0 || nearest > static_cast<float>(in - 1)))
      p.weight.assign(p.weight.size(), 0.0);  // extrapolated: 0
    taps = std::max(taps, p.index.size());
  }
  resize_axis result;
  result.axis = axis;
  result.taps = static_cast<int>(taps);
  for (tap_list& p : positions) {
    p.index.resize(taps, p.index.back());
    p.weight.resize(taps, 0.0);
    for (std::size_t k = 0; k < taps; ++k) {
      result.index.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(p.index[k], 0, in - 1)));
      result.weight.push_back(static_cast<float>(p.weight[k]));
    }
  }
  return result;
}

}

void canonicaliser::resize(const node& n) {
  const shape_t &x = in_shape(n, 0), &out = out_shape(n);
  if (x == out) return identity(n);  // whatever its scales are, as in ONNX Runtime and OpenVINO
  const bool old = n.op == "Upsample" || n.version < 11;
  resampling r;
  r.mode = n.text("mode", "nearest");
  if (r.mode == "bilinear") r.mode = "linear";
  r.coordinates = old ? "asymmetric" : n.text("coordinate_transformation_mode", "half_pixel");
  r.nearest = old ? "simple" : n.text("nearest_mode", "round_prefer_floor");
  r.cubic = n.number("cubic_coeff_a", -0.75f);
  r.exclude_outside = n.integer("exclude_outside", 0) != 0;
  r.antialias = n.integer("antialias", 0) != 0;
  std::vector<double> roi;
  if (r.crops()) {
    if (n.number("extrapolation_value", 0) != 0)
      refuse_node(n, "tf_crop_and_resize has a kernel for extrapolation_value 0");
    roi = numbers(n, 1, "roi");
  }

  std::vector<double> scales;
  if (n.op == "Upsample" && n.has("scales")) {
    const auto* given = std::get_if<std::vector<float>>(&n.attributes.at("scales"));
    if (given) scales.assign(given->begin(), given->end());
  } else {
    const std::size_t at = old ? 1 : 2;
    if (present(n, at)) scales = numbers(n, at, "scales");
  }
  const std::vector<std::int64_t> named = n.integers("axes");
  const bool policy = n.text("keep_aspect_ratio_policy", "stretch") != "stretch";
  resize_parameters p;
  double common = 0;
  if (policy && scales.empty()) {  // one scale for all axes: the smallest or the largest of the sizes asked for
    const std::vector<std::int64_t> sizes = integers(n, 3, "sizes");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto a = named.empty() ? i : static_cast<std::size_t>(axis_of(n, named[i], x.size()));
      const double s = static_cast<double>(sizes[i]) / static_cast<double>(x[a]);
      common = i == 0                                                   ? s
               : n.text("keep_aspect_ratio_policy", "") == "not_larger" ? std::min(common, s)
                                                                        : std::max(common, s);
    }
  }
  for (std::size_t a = 0; a < x.size(); ++a) {
    double scale = static_cast<double>(out[a]) / static_cast<double>(x[a]);
    bool touched = named.empty();
    for (std::size_t i = 0; i < named.size(); ++i) touched |= axis_of(n, named[i], x.size()) == static_cast<int>(a);
    if (!scales.empty()) {
      for (std::size_t i = 0; i < scales.size(); ++i)
        if ((named.empty() ? static_cast<int>(i) : axis_of(n, named[i], x.size())) == static_cast<int>(a))
          scale = scales[i];
    } else if (common != 0 && touched) {
      scale = common;
    }
    if (r.crops()) {
      r.start = 0;
      r.end = 1;
      const std::size_t count = roi.size() / 2;
      for (std::size_t i = 0; i < count; ++i)
        if ((named.empty() ? static_cast<int>(i) : axis_of(n, named[i], x.size())) == static_cast<int>(a))
          r.start = roi[i], r.end = roi[count + i];
    }
    const double taps = r.mode == "nearest" ? 1 : 4 * (r.antialias && scale < 1 ? 1 / scale : 1);
    if (a >= 2) charge(n, static_cast<double>(out[a]) * (4 + 2 * taps));  // before tables of that size are made
    if (scale == 1) continue;
    if (a < 2) refuse_node(n, "only spatial axes can be resized; batch and channels keep their length");
    p.axes.push_back(make_axis(r, static_cast<int>(a), x[a], out[a], scale));
    if (p.axes.back().taps > 65535) refuse_node(n, "one pixel of the result depends on more than 65535 in a row");
  }
  if (p.axes.empty()) return identity(n);
  if (p.axes.size() > 2 || x.size() > 4) refuse_node(n, "resizing has kernels for one and two spatial axes");
  emit(n, std::move(p), {in(n, 0)});
}

}
