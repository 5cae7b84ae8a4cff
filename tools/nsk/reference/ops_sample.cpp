// SPDX-License-Identifier: MIT
/// GridSample of images.
#include <cmath>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

enum class border { zeros, edge, mirror };

struct sampler {
  bool aligned;
  border outside;
  std::int64_t height, width;
  const double* plane;

  /// A place between two mirrors, which are on the outermost pixels' centres or on the image's edges.
  double mirrored(double x, std::int64_t length) const {
    const double low = aligned ? 0 : -0.5, high = static_cast<double>(length) - (aligned ? 1 : 0.5), span = high - low;
    if (span <= 0) return 0;
    if (x < low) x = 2 * low - x;
    const double turns = std::floor((x - low) / span), rest = x - low - turns * span;
    return std::fmod(turns, 2) == 0 ? low + rest : high - rest;
  }
  double pixel(double row, double column) const {
    const auto last = [](std::int64_t length) { return static_cast<double>(length - 1); };
    if (outside == border::edge) {
      row = std::fmin(std::fmax(row, 0), last(height));
      column = std::fmin(std::fmax(column, 0), last(width));
    } else if (outside == border::mirror) {
      row = std::round(mirrored(row, height));
      column = std::round(mirrored(column, width));
    }
    if (!(row >= 0 && row <= last(height) && column >= 0 && column <= last(width))) return 0;
    return plane[static_cast<std::int64_t>(row) * width + static_cast<std::int64_t>(column)];
  }
};

/// Keys' cubic with A = -0.75 at distance d.
double cubic(double d) {
  constexpr double a = -0.75;
  d = std::fabs(d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

double sample(const sampler& s, const std::string& mode, double y, double x) {
  if (mode == "nearest") return s.pixel(std::nearbyint(y), std::nearbyint(x));
  const bool wide = mode == "cubic" || mode == "bicubic";
  const double top = std::floor(y), left = std::floor(x);
  double sum = 0;
  for (int i = wide ? -1 : 0; i < (wide ? 3 : 2); ++i)
    for (int j = wide ? -1 : 0; j < (wide ? 3 : 2); ++j) {
      const double row = top + i, column = left + j;
      const double weight =
          wide ? cubic(y - row) * cubic(x - column) : (1 - std::fabs(y - row)) * (1 - std::fabs(x - column));
      sum += weight * s.pixel(row, column);
    }
  return sum;
}

void infer_grid_sample(call& c) {
  c.require_inputs(2, 2);
  c.require_float(0);
  c.require_float(1);
  c.require_rank(0, 4, 4);
  c.require_rank(1, 4, 4);
  const shape_t &x = c.shape(0), &grid = c.shape(1);
  c.require(grid[0] == x[0] && grid[3] == 2, "the grid must be [N, H, W, 2]");
  const std::string mode = c.op().text("mode", "linear"), padding = c.op().text("padding_mode", "zeros");
  c.require(mode == "linear" || mode == "bilinear" || mode == "cubic" || mode == "bicubic" || mode == "nearest",
            "its mode is none that ONNX defines");
  c.require(padding == "zeros" || padding == "border" || padding == "reflection",
            "its padding_mode is none that ONNX defines");
  c.require(x[2] > 0 && x[3] > 0, "there is no image to sample");
  c.declare(0, c.type(0), {x[0], x[1], grid[1], grid[2]});
}

void evaluate_grid_sample(call& c) {
  const shape_t &x = c.shape(0), &grid = c.shape(1);
  const std::string mode = c.op().text("mode", "linear"), padding = c.op().text("padding_mode", "zeros");
  sampler s{c.op().integer("align_corners", 0) != 0,
            padding == "zeros"    ? border::zeros
            : padding == "border" ? border::edge
                                  : border::mirror,
            x[2], x[3], nullptr};
  const std::int64_t places = grid[1] * grid[2];
  const auto position = [&](double g, std::int64_t length) {
    const auto l = static_cast<double>(length);
    double at = s.aligned ? (g + 1) / 2 * (l - 1) : ((g + 1) * l - 1) / 2;
    if (mode == "nearest") at = std::nearbyint(at);
    // far outside, where all distances mean the same
    return s.outside == border::mirror ? s.mirrored(at, length) : std::fmin(std::fmax(at, -4), l + 3);
  };
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    const std::int64_t plane = i / places, place = plane / x[1] * places + i % places;
    s.plane = c.floats(0) + plane * x[2] * x[3];
    const double* at = c.floats(1) + 2 * place;
    c.out_floats()[i] = sample(s, mode, position(at[1], x[2]), position(at[0], x[3]));
  }
}

double work_of_grid_sample(call& c) { return 64 * as_work(count_of(c.out_shape(0))); }

}

void add_sample(table& t) { t["GridSample"] = {infer_grid_sample, evaluate_grid_sample, 16, work_of_grid_sample}; }

}
