// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "profile/median.hpp"
#include "profile/profile.hpp"

namespace nsk::tool {
namespace {

const memory_level* level_of(const device_profile& p, double bytes) {
  for (const memory_level& level : p.levels)
    if (bytes <= level.bytes || level.bytes == 0) return &level;
  return p.levels.empty() ? nullptr : &p.levels.back();
}

/// Microseconds for `bytes` at `gigabytes` per second; nothing where the bandwidth is not known.
double microseconds(double bytes, double gigabytes) { return gigabytes > 0 ? bytes / gigabytes * 1e-3 : 0; }

double square(double x) { return x * x; }

/// How far two shapes are apart, in doublings. Depth and columns decide how a kernel's inner loops run, bytes per work
/// whether it waits for memory (a stride of 2 reads four times as much); rows matter less.
double distance_squared(const step_work& a, const step_work& b) {
  const double intensity =
      a.activation_bytes > 0 && b.activation_bytes > 0
          ? square(std::log2(a.activation_bytes / a.work()) - std::log2(b.activation_bytes / b.work()))
          : 0;
  return 0.25 * square(std::log2(a.rows / b.rows)) + square(std::log2(a.depth / b.depth)) +
         square(std::log2(a.columns / b.columns)) + intensity;
}

/// The kind whose references stand in for a kind that a profile lacks.
std::string substitute(const std::string& kind) {
  if (kind == "winograd2") return "winograd4";
  if (kind == "conv" || kind == "winograd4") return "pointwise";
  if (kind == "grouped") return "conv";
  if (kind == "shuffle") return "copy";
  return kind == "elementwise" ? "" : "elementwise";
}

/// Work per microsecond of a kind of kernel near a shape: the references' rates, nearer ones weighing more. 0: nothing
/// is known.
double rate_near(const device_profile& p, const step_work& w, const std::string& kind) {
  double sum = 0, weights = 0;
  for (const reference_step& r : p.references) {
    if (r.shape.kind != kind || r.rate <= 0) continue;
    const double d = distance_squared(w, r.shape), weight = 1 / (d * d + 0.01);
    sum += weight * std::log(r.rate);
    weights += weight;
  }
  if (weights > 0) return std::exp(sum / weights);
  return kind.empty() ? 0 : rate_near(p, w, substitute(kind));
}

}

double rate_of_kind(const device_profile& p, const std::string& kind) {
  std::vector<double> rates;
  for (const reference_step& r : p.references)
    if (r.shape.kind == kind && r.rate > 0) rates.push_back(r.rate);
  return median(std::move(rates));
}

double macs_per_us(const device_profile& p) {
  const double rate = rate_of_kind(p, "pointwise");
  return rate > 0 ? rate : std::max(1.0, p.peak_gflops * 1e3 / 2);
}

step_estimate estimate(const device_profile& p, const step_work& w, double footprint) {
  step_estimate e;
  const double rate = rate_near(p, w, w.kind);
  if (rate > 0) e.compute = w.work() / rate;
  if (w.functions > 0) {
    step_work functions;
    functions.kind = "function";
    functions.rows = w.functions;
    const double elements_per_us = rate_near(p, functions, "function");
    if (elements_per_us > 0) e.compute += w.functions / elements_per_us;
  }
  const memory_level *near = level_of(p, w.activation_bytes + w.weight_bytes), *far = level_of(p, footprint);
  if (near && far) e.memory = microseconds(w.activation_bytes, near->copy) + microseconds(w.weight_bytes, far->read);
  e.overhead = p.step_us + p.tile_us * w.tiles;
  e.largest_tile = std::max(e.compute, e.memory) * w.largest_tile + p.tile_us;
  return e;
}

std::vector<step_estimate> estimate(const device_profile& p, const model& m, const variant_view& v) {
  const double footprint = static_cast<double>(m.weights().size() + v.required_bytes());
  std::vector<step_estimate> result;
  for (int i = 0; i < v.step_count(); ++i) result.push_back(estimate(p, describe_work(v.step(i)), footprint));
  return result;
}

}
