// SPDX-License-Identifier: MIT
/// GridSample, and AffineGrid, which makes its places.
#include <cmath>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

enum class border { zeros, edge, mirror };

/// One channel of an image or volume.
struct sampler {
  bool aligned;
  border outside;
  std::vector<std::int64_t> length;  ///< outermost first
  const double* plane;

  /// A place between two mirrors, which are on the outermost pixels' centres or on the image's edges.
  double mirrored(double x, std::int64_t length_of_axis) const {
    const double low = aligned ? 0 : -0.5, high = static_cast<double>(length_of_axis) - (aligned ? 1 : 0.5),
                 span = high - low;
    if (span <= 0) return 0;
    if (x < low) x = 2 * low - x;
    const double turns = std::floor((x - low) / span), rest = x - low - turns * span;
    return std::fmod(turns, 2) == 0 ? low + rest : high - rest;
  }
  double pixel(const std::vector<double>& at) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < length.size(); ++d) {
      const auto last = static_cast<double>(length[d] - 1);
      double x = at[d];
      if (outside == border::edge) x = std::fmin(std::fmax(x, 0), last);
      if (outside == border::mirror) x = std::round(mirrored(x, length[d]));
      if (!(x >= 0 && x <= last)) return 0;
      offset = offset * length[d] + static_cast<std::int64_t>(x);
    }
    return plane[offset];
  }
};

/// The sum over all taps around `at`: two per axis, or four.
double sample(const sampler& s, const std::string& mode, std::vector<double> at) {
  if (mode == "nearest") {
    for (double& x : at) x = std::nearbyint(x);
    return s.pixel(at);
  }
  const bool wide = mode == "cubic" || mode == "bicubic";
  const std::size_t per_axis = wide ? 4 : 2;
  std::size_t taps = 1;
  for (std::size_t d = 0; d < at.size(); ++d) taps *= per_axis;
  std::vector<double> tap(at.size());
  double sum = 0;
  for (std::size_t i = 0; i < taps; ++i) {
    double weight = 1;
    std::size_t rest = i;
    for (std::size_t d = at.size(); d-- > 0; rest /= per_axis) {
      tap[d] = std::floor(at[d]) + static_cast<double>(rest % per_axis) - (wide ? 1 : 0);
      weight *= wide ? cubic_kernel(-0.75, at[d] - tap[d]) : 1 - std::fabs(at[d] - tap[d]);
    }
    sum += weight * s.pixel(tap);
  }
  return sum;
}

void infer_grid_sample(call& c) {
  c.require_inputs(2, 2);
  c.require_float(0);
  c.require_float(1);
  c.require_rank(0, 4, 5);
  c.require_rank(1, c.rank(0), c.rank(0));
  const shape_t &x = c.shape(0), &grid = c.shape(1);
  const std::size_t axes = x.size() - 2;
  c.require(grid[0] == x[0] && grid.back() == static_cast<std::int64_t>(axes),
            "the grid must be [N, H, W, 2], or [N, D, H, W, 3] for volumes");
  const std::string mode = c.op().text("mode", "linear"), padding = c.op().text("padding_mode", "zeros");
  const bool wide = mode == "cubic" || mode == "bicubic";
  c.require(mode == "linear" || mode == "bilinear" || wide || mode == "nearest", "its mode is none that ONNX defines");
  c.require(!wide || axes == 2, "the mode cubic is defined for images alone");
  c.require(padding == "zeros" || padding == "border" || padding == "reflection",
            "its padding_mode is none that ONNX defines");
  for (std::size_t d = 2; d < x.size(); ++d) c.require(x[d] > 0, "there is no image to sample");
  shape_t shape = {x[0], x[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  c.declare(0, c.type(0), shape);
}

void evaluate_grid_sample(call& c) {
  const shape_t &x = c.shape(0), &grid = c.shape(1);
  const std::string mode = c.op().text("mode", "linear"), padding = c.op().text("padding_mode", "zeros");
  sampler s{c.op().integer("align_corners", 0) != 0,
            padding == "zeros"    ? border::zeros
            : padding == "border" ? border::edge
                                  : border::mirror,
            {x.begin() + 2, x.end()},
            nullptr};
  const auto axes = static_cast<std::int64_t>(s.length.size());
  const std::int64_t places = count_between(grid, 1, grid.size() - 1), pixels = count_between(x, 2, x.size());
  const auto position = [&](double g, std::int64_t length) {
    const auto l = static_cast<double>(length);
    double at = s.aligned ? (g + 1) / 2 * (l - 1) : ((g + 1) * l - 1) / 2;
    if (mode == "nearest") at = std::nearbyint(at);
    // far outside, where all distances mean the same
    return s.outside == border::mirror ? s.mirrored(at, length) : std::fmin(std::fmax(at, -4), l + 3);
  };
  std::vector<double> at(s.length.size());
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    const std::int64_t plane = i / places, place = plane / x[1] * places + i % places;
    s.plane = c.floats(0) + plane * pixels;
    for (std::int64_t d = 0; d < axes; ++d)  // the grid names x first
      at[static_cast<std::size_t>(d)] =
          position(c.floats(1)[axes * place + axes - 1 - d], s.length[static_cast<std::size_t>(d)]);
    c.out_floats()[i] = sample(s, mode, at);
  }
}

double work_of_grid_sample(call& c) { return 64 * as_work(count_of(c.out_shape(0))); }

/// theta [N, axes, axes + 1]; size [N, C, lengths...].
void infer_affine_grid(call& c) {
  c.require_inputs(2, 2);
  c.require_float(0);
  c.require_rank(0, 3, 3);
  const std::vector<std::int64_t> size = c.integer_list(1);
  const shape_t& theta = c.shape(0);
  c.require(size.size() == 4 || size.size() == 5, "size must be [N, C, H, W] or [N, C, D, H, W]");
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  c.require(theta[0] == size[0] && theta[1] == axes && theta[2] == axes + 1,
            "theta must be [N, 2, 3], or [N, 3, 4] for volumes");
  shape_t shape = {size[0]};
  for (std::size_t d = 2; d < size.size(); ++d) {
    c.require(size[d] >= 0, "size has a negative length");
    shape.push_back(size[d]);
  }
  shape.push_back(axes);
  c.declare(0, c.type(0), shape);
}

void evaluate_affine_grid(call& c) {
  const bool aligned = c.op().integer("align_corners", 0) != 0;
  const shape_t& y = c.out_shape(0);
  const std::size_t axes = y.size() - 2;
  const auto centre = [&](std::int64_t at, std::int64_t length) {
    const auto i = static_cast<double>(at), l = static_cast<double>(length);
    if (aligned) return length == 1 ? -1.0 : -1 + i * 2 / (l - 1);
    return -1 + (i + 0.5) * 2 / l;
  };
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    const auto row = i % static_cast<std::int64_t>(axes);
    std::int64_t place = i / static_cast<std::int64_t>(axes);
    std::vector<double> coordinates;  // x first
    for (std::size_t d = axes; d-- > 0; place /= y[d + 1]) coordinates.push_back(centre(place % y[d + 1], y[d + 1]));
    const double* theta =
        c.floats(0) + (place * static_cast<std::int64_t>(axes) + row) * static_cast<std::int64_t>(axes + 1);
    double sum = theta[axes];
    for (std::size_t d = 0; d < axes; ++d) sum += theta[d] * coordinates[d];
    c.out_floats()[i] = sum;
  }
}

}

void add_sample(table& t) {
  t["GridSample"] = {infer_grid_sample, evaluate_grid_sample, 16, work_of_grid_sample};
  t["AffineGrid"] = {infer_affine_grid, evaluate_affine_grid, 20};
}

}
