// SPDX-License-Identifier: MIT
/// Resize and Upsample: taps and weights per output position of each axis.
#include <algorithm>
#include <cmath>
#include "graph/nearest_pixel.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

struct resampling {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, steps = 0;  ///< steps: of a pixel, to which positions are rounded; 0: they are not
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
  if (linear && r.steps > 0) x = std::nearbyint(x * r.steps) / r.steps;
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

/// What a node asks for. Its lists (scales, sizes, roi) hold one number per axis that they name.
struct resize_request {
  resampling r;
  std::vector<int> axes;  ///< of the lists, in their order
  std::vector<double> scales, roi;
  double outside = 0;  ///< what pixels are that the image does not reach
  double common = 0;   ///< one scale for all axes of the lists; 0: each has its own

  /// Place of an axis in lists of `length`; no_value where they do not name it.
  int place_of(std::size_t axis, std::size_t length) const {
    const auto at = std::find(axes.begin(), axes.end(), static_cast<int>(axis)) - axes.begin();
    return static_cast<std::size_t>(at) < std::min(axes.size(), length) ? static_cast<int>(at) : no_value;
  }
};

resampling read_resampling(const node& n, bool old) {
  resampling r;
  r.mode = n.text("mode", "nearest");
  if (r.mode == "bilinear") r.mode = "linear";
  r.coordinates = old ? "asymmetric" : n.text("coordinate_transformation_mode", "half_pixel");
  r.nearest = old ? "simple" : n.text("nearest_mode", "round_prefer_floor");
  r.steps = static_cast<double>(n.integer("position_steps", 0));
  r.cubic = n.number("cubic_coeff_a", -0.75f);
  r.exclude_outside = n.integer("exclude_outside", 0) != 0;
  r.antialias = n.integer("antialias", 0) != 0;
  return r;
}

std::vector<double> read_scales(context& c, bool old) {
  const node& n = c.op();
  if (n.op == "Upsample" && n.has("scales")) {
    const auto* given = std::get_if<std::vector<float>>(&n.attributes.at("scales"));
    return given == nullptr ? std::vector<double>() : std::vector<double>(given->begin(), given->end());
  }
  const std::size_t at = old ? 1 : 2;
  return c.has(at) ? numbers(c, at, "scales") : std::vector<double>();
}

/// The smallest or the largest of the scales that the sizes ask for.
double common_scale(context& c, const resize_request& q) {
  const std::vector<std::int64_t> sizes = integers(c, 3, "sizes");
  const bool smallest = c.op().text("keep_aspect_ratio_policy", "") == "not_larger";
  double common = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t length = c.in_shape(0)[static_cast<std::size_t>(q.axes[i])];
    const double scale = static_cast<double>(sizes[i]) / static_cast<double>(length);
    common = i == 0 ? scale : smallest ? std::min(common, scale) : std::max(common, scale);
  }
  return common;
}

resize_request read_request(context& c) {
  const node& n = c.op();
  const std::size_t rank = c.in_shape(0).size();
  const bool old = n.op == "Upsample" || n.version < 11;
  resize_request q;
  q.r = read_resampling(n, old);
  if (q.r.crops()) {
    q.outside = n.number("extrapolation_value", 0);
    q.roi = numbers(c, 1, "roi");
  }
  q.scales = read_scales(c, old);
  const std::vector<std::int64_t> named = n.integers("axes");
  for (std::size_t i = 0; i < (named.empty() ? rank : named.size()); ++i)
    q.axes.push_back(named.empty() ? static_cast<int>(i) : c.axis(named[i], rank));
  if (q.scales.empty() && n.text("keep_aspect_ratio_policy", "stretch") != "stretch") q.common = common_scale(c, q);
  return q;
}

double scale_of(const context& c, const resize_request& q, std::size_t axis) {
  const double own = static_cast<double>(c.out_shape()[axis]) / static_cast<double>(c.in_shape(0)[axis]);
  if (q.scales.empty()) return q.common != 0 && q.place_of(axis, q.axes.size()) != no_value ? q.common : own;
  const int at = q.place_of(axis, q.scales.size());
  return at == no_value ? own : q.scales[static_cast<std::size_t>(at)];
}

/// The sampling along one axis: the region of tf_crop_and_resize differs between axes.
resampling sampling_of(const resize_request& q, std::size_t axis) {
  resampling r = q.r;
  const std::size_t count = q.roi.size() / 2;
  if (const int at = q.place_of(axis, count); at != no_value) {
    r.start = q.roi[static_cast<std::size_t>(at)];
    r.end = q.roi[count + static_cast<std::size_t>(at)];
  }
  return r;
}

/// x [N, C, depth, H, W] as images [N * depth, C, H, W], resized along the last two axes.
int resized_images(context& c, int x, resize_parameters p, std::int64_t height, std::int64_t width) {
  const shape_t from = c.shape(x);
  for (resize_axis& a : p.axes) --a.axis;
  const int images = reshaped(c, transposed(c, x, {0, 2, 1, 3, 4}, "images"),
                              {from[0] * from[2], from[1], from[3], from[4]}),
            result = c.temporary("resized_images", {from[0] * from[2], from[1], height, width});
  c.emit(std::move(p), {images}, result);
  return transposed(c, reshaped(c, result, {from[0], from[2], from[1], height, width}), {0, 2, 1, 3, 4}, "volume");
}

/// x [N, C, depth, H, W] resized along its depth: images are lines of pixels meanwhile.
int resized_depth(context& c, int x, resize_parameters p, std::int64_t depth) {
  const shape_t from = c.shape(x);
  const int result = c.temporary("resized_depth", {from[0], from[1], depth, from[3] * from[4]});
  c.emit(std::move(p), {reshaped(c, x, {from[0], from[1], from[2], from[3] * from[4]})}, result);
  return reshaped(c, result, {from[0], from[1], depth, from[3], from[4]});
}

/// Three spatial axes: images and depth one after the other, that first which leaves less to do for the other.
void resize_volume(context& c, const resize_parameters& p) {
  resize_parameters images, deep;
  for (const resize_axis& a : p.axes) (a.axis == 2 ? deep : images).axes.push_back(a);
  const shape_t to = c.out_shape();
  int x = c.in(0);
  const bool depth_first = to[2] < c.shape(x)[2];
  if (depth_first && !deep.axes.empty()) x = resized_depth(c, x, deep, to[2]);
  if (!images.axes.empty()) x = resized_images(c, x, images, to[3], to[4]);
  if (!depth_first && !deep.axes.empty()) x = resized_depth(c, x, deep, to[2]);
  c.emit(reshape_parameters{}, {x});
}

/// Any axes, one after the other, those first that become shorter: around each of them the others are channels and
/// pixels of a line.
void resize_lines(context& c, resize_parameters p) {
  const shape_t& to = c.out_shape();
  shape_t shape = c.in_shape(0);
  const auto length = [&](const resize_axis& a, const shape_t& of) { return of[static_cast<std::size_t>(a.axis)]; };
  std::stable_partition(p.axes.begin(), p.axes.end(),
                        [&](const resize_axis& a) { return length(a, to) < length(a, shape); });
  int x = c.in(0);
  for (resize_axis& a : p.axes) {
    const auto axis = static_cast<std::size_t>(a.axis);
    const auto at = shape.begin() + a.axis;
    const std::int64_t outer = count_of({shape.begin(), at}), inner = count_of({at + 1, shape.end()});
    const std::string name = "resized" + std::to_string(axis);
    const int lines = reshaped(c, x, {1, outer, shape[axis], inner});
    a.axis = 2;
    shape[axis] = to[axis];
    const int result = c.temporary(name, {1, outer, shape[axis], inner});
    resize_parameters one;
    one.axes.push_back(std::move(a));
    c.emit(std::move(one), {lines}, result);
    x = result;
  }
  c.emit(reshape_parameters{}, {x});
}

/// Images whose pixels outside the source have another value than 0: it is added there.
void resize_over(context& c, resize_parameters p, double value) {
  shape_t shape = c.out_shape();
  for (std::size_t a = 0; a < std::min<std::size_t>(2, shape.size()); ++a) shape[a] = 1;
  c.charge(static_cast<double>(count_of(shape)));
  std::vector<double> added(static_cast<std::size_t>(count_of(shape)), 0);
  for (const resize_axis& a : p.axes) {
    std::int64_t stride = 1;
    for (std::size_t d = static_cast<std::size_t>(a.axis) + 1; d < shape.size(); ++d) stride *= shape[d];
    for (std::size_t i = 0; i < added.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i) / stride % shape[static_cast<std::size_t>(a.axis)] * a.taps;
      const auto first = a.weight.begin() + at;
      if (std::all_of(first, first + a.taps, [](float w) { return w == 0; })) added[i] = value;
    }
  }
  const int resized = c.temporary("resized", c.out_shape());
  c.emit(std::move(p), {c.in(0)}, resized);
  c.emit(binary_params{binary_kind::add}, {resized, constant(c, "outside", shape, added)});
}

void resize(context& c) {
  const shape_t &x = c.in_shape(0), &out = c.out_shape();
  if (x == out) return identity(c);  // whatever its scales are, as in ONNX Runtime and OpenVINO
  const resize_request q = read_request(c);
  resize_parameters p;
  for (std::size_t a = 0; a < x.size(); ++a) {
    const double scale = scale_of(c, q, a);
    const double taps = q.r.mode == "nearest" ? 1 : 4 * (q.r.antialias && scale < 1 ? 1 / scale : 1);
    if (scale == 1) continue;
    c.charge(static_cast<double>(out[a]) * (4 + 2 * taps));  // before tables of that size are made
    p.axes.push_back(make_axis(sampling_of(q, a), static_cast<int>(a), x[a], out[a], scale));
    if (p.axes.back().taps > 65535) c.refuse("one pixel of the result depends on more than 65535 in a row");
  }
  if (p.axes.empty()) return identity(c);
  const bool spatial = x.size() <= 5 && p.axes.front().axis >= 2;
  if (!spatial && q.outside != 0) c.refuse("batches and channels have a kernel for extrapolation_value 0");
  if (!spatial) return resize_lines(c, std::move(p));
  if (x.size() == 5 && q.outside != 0) c.refuse("volumes have a kernel for extrapolation_value 0");
  if (x.size() == 5) return resize_volume(c, p);
  if (q.outside != 0) return resize_over(c, std::move(p), q.outside);
  c.emit(std::move(p), {c.in(0)});
}

}

void add_resize(rule_table& t) {
  t["Resize"] = {resize};
  t["Upsample"] = {resize};
}

}
