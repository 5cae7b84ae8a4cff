// SPDX-License-Identifier: MIT
#include "check/receptive_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/measure.hpp"

namespace nsk::tool {
namespace {

/// Where the windows of a convolution are along one axis.
struct window_axis {
  std::int64_t length, outputs, taps, stride, dilation, pad;
  std::int64_t first_tap(std::int64_t output) const { return output * stride - pad; }
};

window_axis axis_of(const node& n, const shape_t& x, const shape_t& w, const shape_t& y, std::size_t axis) {
  const auto number = [&](const char* key, std::int64_t fallback, std::size_t i) {
    const std::vector<std::int64_t> list = n.integers(key);
    return i < list.size() ? list[i] : fallback;
  };
  window_axis a{x[axis + 2], y[axis + 2], w[axis + 2], number("strides", 1, axis), number("dilations", 1, axis), 0};
  const std::string automatic = n.text("auto_pad", "NOTSET");
  if (automatic.rfind("SAME", 0) != 0) {
    a.pad = automatic == "VALID" ? 0 : number("pads", 0, axis);
    return a;
  }
  const std::int64_t surplus =
      std::max<std::int64_t>(0, (a.outputs - 1) * a.stride + (a.taps - 1) * a.dilation + 1 - a.length);
  a.pad = automatic == "SAME_LOWER" ? surplus - surplus / 2 : surplus / 2;
  return a;
}

/// The largest element of each window of a plane.
void largest_of_windows(const double* plane, const window_axis& rows, const window_axis& columns, double* to) {
  for (std::int64_t i = 0; i < rows.outputs; ++i)
    for (std::int64_t j = 0; j < columns.outputs; ++j, ++to)
      for (std::int64_t k = 0; k < rows.taps; ++k) {
        const std::int64_t row = rows.first_tap(i) + k * rows.dilation;
        if (row < 0 || row >= rows.length) continue;
        for (std::int64_t l = 0; l < columns.taps; ++l) {
          const std::int64_t column = columns.first_tap(j) + l * columns.dilation;
          if (column >= 0 && column < columns.length) *to = std::max(*to, plane[row * columns.length + column]);
        }
      }
}

/// The largest finite magnitude among the channels of each group, by pixel.
array brightest_of(const array& a, std::int64_t groups) {
  array result(element::f64, {a.shape[0], groups, a.shape[2], a.shape[3]});
  const std::int64_t pixels = a.shape[2] * a.shape[3], channels = a.shape[1] / groups;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = std::fabs(a.number(i));
    double& largest = result.as<double>()[i / pixels / channels * pixels + i % pixels];
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return result;
}

}

receptive_fields::receptive_fields(const graph& g) : m_graph(g) {
  for (const node& n : g.nodes)
    if (n.op == "Conv" && n.domain.empty()) add(n);
}

const array* receptive_fields::constant(const node& n, std::size_t i) const {
  return i < n.inputs.size() && n.inputs[i] != no_value ? at(n.inputs[i]).constant.get() : nullptr;
}

void receptive_fields::add(const node& convolution) {
  const array *w = constant(convolution, 1), *bias = constant(convolution, 2);
  const bool biased = convolution.inputs.size() > 2 && convolution.inputs[2] != no_value;
  if (w == nullptr || w->shape.size() != 4 || (biased && bias == nullptr)) return;
  const auto channels = static_cast<std::size_t>(w->shape[0]);
  const std::int64_t weights = w->count() / w->shape[0];
  result r{&convolution, std::vector<double>(channels, 0), std::vector<double>(channels, 0), {}};
  for (std::int64_t i = 0; i < w->count(); ++i) {
    double& largest = r.gain[static_cast<std::size_t>(i / weights)];
    largest = std::max(largest, std::fabs(w->number(i)));
  }
  for (std::size_t c = 0; c < channels && biased; ++c)
    r.offset[c] = std::fabs(bias->number(static_cast<std::int64_t>(c)));
  m_groups[at(convolution.inputs[0]).name] = static_cast<int>(convolution.integer("group", 1));
  value_id v = convolution.outputs[0];
  for (bool goes_on = true; goes_on;) {
    m_results[at(v).name] = r;
    goes_on = false;
    for (const node& n : m_graph.nodes)
      if (std::find(n.inputs.begin(), n.inputs.end(), v) != n.inputs.end()) {
        goes_on = follow(n, v, r);
        if (goes_on) v = n.outputs[0];
        break;
      }
  }
  for (const std::string& name : r.addends) m_addends[name];
}

/// Whether `n` moves no error of `v` further than `r`, which it brings up to date, says.
bool receptive_fields::follow(const node& n, value_id v, result& r) const {
  if (!n.domain.empty() || n.outputs.empty() || n.outputs[0] == no_value || at(n.outputs[0]).shape != at(v).shape)
    return false;
  if (n.op == "Relu" || n.op == "Clip") return true;
  if (n.op == "LeakyRelu") return std::fabs(n.number("alpha", 0.01f)) <= 1;
  if (n.op == "Add") {
    const value_id other = n.inputs[n.inputs[0] == v ? 1 : 0];
    if (at(other).constant || at(other).shape != at(v).shape) return false;
    r.addends.push_back(at(other).name);
    return true;
  }
  if (n.op != "BatchNormalization" || n.inputs[0] != v) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (constant(n, i) == nullptr || constant(n, i)->count() != static_cast<std::int64_t>(r.gain.size())) return false;
  for (std::size_t c = 0; c < r.gain.size(); ++c) {
    const auto k = static_cast<std::int64_t>(c);
    const double scale = constant(n, 1)->number(k) /
                         std::sqrt(constant(n, 4)->number(k) + static_cast<double>(n.number("epsilon", 1e-5f)));
    r.gain[c] *= std::fabs(scale);
    r.offset[c] = std::max({r.offset[c] * std::fabs(scale), std::fabs(constant(n, 2)->number(k)),
                            std::fabs(constant(n, 3)->number(k) * scale)});
  }
  return true;
}

void receptive_fields::see(const std::string& name, const array& a) {
  if (const auto addend = m_addends.find(name); addend != m_addends.end()) addend->second = a;
  const auto groups = m_groups.find(name);
  if (groups == m_groups.end() || a.shape.size() != 4 || groups->second < 1 || a.shape[1] % groups->second != 0) return;
  m_brightest[name] = brightest_of(a, groups->second);
}

/// The largest input magnitude in the window of every output pixel of every group.
std::vector<double> receptive_fields::windows(const node& n, const shape_t& to) const {
  const auto found = m_brightest.find(at(n.inputs[0]).name);
  if (found == m_brightest.end() || to.size() != 4) return {};
  const array& x = found->second;
  const shape_t& w = constant(n, 1)->shape;
  const window_axis rows = axis_of(n, x.shape, w, to, 0), columns = axis_of(n, x.shape, w, to, 1);
  const std::int64_t planes = x.shape[0] * x.shape[1], pixels = rows.outputs * columns.outputs;
  std::vector<double> result(static_cast<std::size_t>(planes * pixels), 0);
  for (std::int64_t p = 0; p < planes; ++p)
    largest_of_windows(x.as<double>() + p * rows.length * columns.length, rows, columns, result.data() + p * pixels);
  return result;
}

std::optional<double> receptive_fields::error_of(const std::string& name, const array& got, const array& wanted) const {
  constexpr double floor = 1e-6;
  const auto found = m_results.find(name);
  if (found == m_results.end() || got.count() != wanted.count()) return std::nullopt;
  const result& r = found->second;
  const std::vector<double> largest = windows(*r.convolution, wanted.shape);
  if (largest.empty()) return std::nullopt;
  const std::int64_t pixels = wanted.shape[2] * wanted.shape[3], channels = wanted.shape[1],
                     groups = static_cast<std::int64_t>(largest.size()) / pixels / wanted.shape[0];
  std::vector<double> scale(static_cast<std::size_t>(wanted.count()));
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    const std::int64_t plane = i / pixels;
    const auto c = static_cast<std::size_t>(plane % channels);
    const std::int64_t group = plane / channels * groups + plane % channels / (channels / groups);
    scale[static_cast<std::size_t>(i)] =
        std::max(largest[static_cast<std::size_t>(group * pixels + i % pixels)] * r.gain[c], r.offset[c]);
  }
  for (const std::string& addend : r.addends) {
    const array& a = m_addends.at(addend);
    if (a.count() != wanted.count()) return std::nullopt;
    for (std::int64_t i = 0; i < a.count(); ++i)
      if (const double x = std::fabs(a.number(i)); std::isfinite(x))
        scale[static_cast<std::size_t>(i)] = std::max(scale[static_cast<std::size_t>(i)], x);
  }
  const double minimum = floor * *std::max_element(scale.begin(), scale.end());
  double worst = 0;
  for (std::int64_t i = 0; i < wanted.count(); ++i)
    if (const double d = difference(got.number(i), wanted.number(i), element::f32); d > 0)
      worst = std::max(worst, d / std::max({scale[static_cast<std::size_t>(i)], minimum, no_difference}));
  return worst;
}

}
