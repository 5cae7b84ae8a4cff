// SPDX-License-Identifier: MIT
#include "passes/stream/rows.hpp"

#include <algorithm>
#include <utility>
#include "program/winograd_choice.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t row_axis = 2;

bool is_image(const shape_t& s) { return s.size() == 4 && s[0] == 1; }

/// The window of an operation that has one.
template <class Operation>
auto window_of(Operation& o) -> decltype(&o.template as<conv_parameters>()->w) {
  if (auto* c = o.template as<conv_parameters>()) return &c->w;
  if (auto* c = o.template as<quantized_conv_parameters>()) return &c->w;
  if (auto* c = o.template as<pool_2d_params>()) return &c->w;
  return nullptr;
}

/// The table of rows of an operation that resamples an image; null for others, and where rows stay as they are.
template <class Operation>
auto row_table_of(Operation& o) -> decltype(&o.template as<resize_parameters>()->axes.front()) {
  auto* r = o.template as<resize_parameters>();
  if (r == nullptr) return nullptr;
  const auto found =
      std::find_if(r->axes.begin(), r->axes.end(), [](const resize_axis& a) { return a.axis == row_axis; });
  return found == r->axes.end() ? nullptr : &*found;
}
/// The first and the last row that a row of the result is made of.
std::pair<std::int32_t, std::int32_t> rows_of_taps(const resize_axis& a, std::int64_t row) {
  const auto first = a.index.begin() + static_cast<std::ptrdiff_t>(row * a.taps);
  const auto [low, high] = std::minmax_element(first, first + a.taps);
  return {*low, *high};
}
/// Whether an operation that resamples rows reads them from above to below; true for others.
bool resamples_in_order(const program& p, const operation& o) {
  const resize_axis* a = row_table_of(o);
  for (std::int64_t row = 1; a != nullptr && row < p.shape(o.output)[row_axis]; ++row) {
    const auto before = rows_of_taps(*a, row - 1), here = rows_of_taps(*a, row);
    if (here.first < before.first || here.second < before.second) return false;
  }
  return true;
}

bool is_elementwise(const operation& o) {
  if (const auto* t = o.as<byte_table_parameters>()) return t->channels.empty() || t->axis == 1;
  return o.as<unary_params>() || o.as<binary_params>() || o.as<quantized_binary_params>() || o.as<quantize_params>() ||
         o.as<dequantize_params>();
}

bool moves_channels(const program& p, const operation& o) {
  if (const auto* c = o.as<concat_parameters>()) return c->axis == 1;
  const auto* s = o.as<slice_parameters>();
  return s != nullptr && p.shape(o.inputs[0]).size() == 4 && s->starts[row_axis] == 0 && s->steps[row_axis] == 1 &&
         p.shape(o.inputs[0])[row_axis] == p.shape(o.output)[row_axis];
}

/// Length of the axis of a value that is broadcast along rows, or runs along them.
std::int64_t rows_of(const shape_t& s) { return s.size() >= 2 ? s[s.size() - 2] : 1; }

/// Whether the first or the last row of a result with windows is made of no row of the image.
bool reads_padding_alone(const program& p, const operation& o) {
  const std::int64_t rows = p.shape(o.output)[row_axis];
  const auto reads = [&](std::int64_t row) { return rows_read(p, o, o.inputs[0], {row, row + 1}).count() > 0; };
  return !reads(0) || !reads(rows - 1);
}

}

bool works_by_rows(const program& p, const operation& o) {
  if (!is_image(p.shape(o.output)) || rows_of(p.shape(o.output)) < 2) return false;
  const bool reads_image = has_window(o);
  if (!reads_image && !is_elementwise(o) && !moves_channels(p, o)) return false;
  if (reads_image && !is_image(p.shape(o.inputs[0]))) return false;
  if (!resamples_in_order(p, o) || (window_of(o) != nullptr && reads_padding_alone(p, o))) return false;
  std::vector<int> all = o.inputs;
  if (o.post.residual != no_value) all.push_back(o.post.residual);
  return std::all_of(all.begin(), all.end(), [&](int v) {
    if (v == no_value) return true;
    if (reads_image && v == o.inputs[0]) return !p.is_constant(v) && v != o.post.residual;
    if (p.is_constant(v)) return rows_of(p.shape(v)) == 1;
    return rows_of(p.shape(v)) == 1 || (is_image(p.shape(v)) && is_read_by_rows(p, o, v));
  });
}

bool has_window(const operation& o) { return window_of(o) != nullptr || o.as<resize_parameters>() != nullptr; }

std::vector<int> operands_of(const program& p, const operation& o) {
  std::vector<int> found;
  const auto add = [&](int v) {
    if (v != no_value && !p.is_constant(v) && std::find(found.begin(), found.end(), v) == found.end())
      found.push_back(v);
  };
  for (const int v : o.inputs) add(v);
  add(o.post.residual);
  return found;
}

bool is_read_by_rows(const program& p, const operation& o, int v) {
  if (p.is_constant(v)) return false;
  if (has_window(o) && v == o.inputs[0]) return true;
  const std::int64_t rows = rows_of(p.shape(v));
  return rows > 1 && rows == p.shape(o.output)[row_axis];
}

std::int64_t last_row_read(const program& p, const operation& o, int v, std::int64_t end) {
  std::int64_t last = end - 1;
  if (v == o.inputs[0]) {
    if (const window* w = window_of(o)) last = last * w->stride_h - w->pad_top + (w->kernel_h - 1) * w->dilation_h;
    if (const resize_axis* a = row_table_of(o); a != nullptr && end > 0) last = rows_of_taps(*a, last).second;
  }
  return std::min(last, p.shape(v)[row_axis] - 1);
}

row_range rows_read(const program& p, const operation& o, int v, row_range of_result) {
  const window* w = window_of(o);
  const resize_axis* a = row_table_of(o);
  if (v != o.inputs[0] || (w == nullptr && a == nullptr)) return of_result;
  const std::int64_t first =
      a != nullptr ? rows_of_taps(*a, of_result.first).first : of_result.first * w->stride_h - w->pad_top;
  return {std::max<std::int64_t>(first, 0), last_row_read(p, o, v, of_result.end) + 1};
}

std::int64_t row_unit(const operation& o) {
  const auto* c = o.as<conv_parameters>();
  return c != nullptr && winograd_fits(c->w, c->groups) ? 4 : 1;
}

operation band_of(const program& p, const operation& o, row_range of_result) {
  operation band = o;
  if (auto* c = band.as<conv_parameters>()) c->whole_rows = p.shape(o.output)[row_axis];
  if (window* w = window_of(band)) {
    const std::int64_t first = of_result.first * w->stride_h - w->pad_top;
    w->pad_top = static_cast<std::int32_t>(std::max<std::int64_t>(0, -first));
  }
  if (resize_axis* a = row_table_of(band)) {
    const std::int32_t above = rows_of_taps(*a, of_result.first).first;
    const std::ptrdiff_t begin = of_result.first * a->taps, end = of_result.end * a->taps;
    a->index = {a->index.begin() + begin, a->index.begin() + end};
    a->weight = {a->weight.begin() + begin, a->weight.begin() + end};
    for (std::int32_t& i : a->index) i -= above;
  }
  if (auto* pool = band.as<pool_2d_params>())
    if (of_result.end != p.shape(o.output)[row_axis]) pool->pad_bottom = 0;
  return band;
}

}
