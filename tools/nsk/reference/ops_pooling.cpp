// SPDX-License-Identifier: MIT
/// Pooling over any number of spatial axes.
#include <cmath>
#include <limits>

#include "reference/window.hpp"

namespace nsk::tool::reference {
namespace {

window pool_window(const call& c) {
  c.require(c.op().has("kernel_shape"), "attribute 'kernel_shape' is missing");
  window w = read_window(c, spatial_of(c.shape(0)), {});
  finish_window(c, w, c.op().integer("ceil_mode", 0) != 0);
  return w;
}

void infer_pool(call& c) {
  c.require_inputs(1, 1);
  c.require_rank(0, 3, 8);
  const shape_t shape = with_spatial(c.shape(0)[0], c.shape(0)[1], pool_window(c).output);
  c.declare(0, c.type(0), shape);
  c.declare(1, element::i64, shape);
}

/// Calls f(plane, i, at, taps) for each plane (image and channel) and output position; i: its place in the output.
template <class F>
void for_each_window(const call& c, const window& w, F f) {
  std::vector<tap> taps;
  const std::int64_t planes = c.shape(0)[0] * c.shape(0)[1], size = count_of(w.output);
  for_each_index(w.output, 0, count_of(w.output), [&](std::int64_t i, const shape_t& at) {
    find_taps(w, at, taps);
    for (std::int64_t plane = 0; plane < planes; ++plane) f(plane, plane * size + i, at, taps);
  });
}

/// Index of a maximum as ONNX counts it: over the whole tensor, spatial axes in row-major or column-major order.
std::int64_t flat_index(const window& w, std::int64_t plane, std::int64_t offset, bool column_major) {
  const std::int64_t size = count_of(w.input);
  if (!column_major) return plane * size + offset;
  std::int64_t rest = offset, index = 0, scale = size;
  for (std::size_t d = w.axes(); d-- > 0; rest /= w.input[d]) {
    scale /= w.input[d];
    index += rest % w.input[d] * scale;
  }
  return plane * size + index;
}

void evaluate_max_pool(call& c) {
  const window w = pool_window(c);
  const std::int64_t in_plane = count_of(w.input);
  const bool column_major = c.op().integer("storage_order", 0) != 0, wants_index = c.wants(1);
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for_each_window(c, w, [&](std::int64_t plane, std::int64_t i, const shape_t&, const std::vector<tap>& taps) {
      const T* x = c.data(0).as<T>() + plane * in_plane;
      T best = std::numeric_limits<T>::lowest();
      if constexpr (std::is_same_v<T, double>) best = -std::numeric_limits<double>::infinity();
      std::int64_t best_at = taps.empty() ? 0 : taps[0].offset;
      for (const tap& t : taps) {
        if (!(x[t.offset] > best) && x[t.offset] == x[t.offset]) continue;
        best = x[t.offset];
        best_at = t.offset;
        if (best != best) break;  // NaN wins
      }
      c.out(0).as<T>()[i] = best;
      if (wants_index) c.out_integers(1)[i] = flat_index(w, plane, best_at, column_major);
    });
  });
}

/// Taps inside the padded input: what count_include_pad divides by. A last window that ceil_mode let over the edge is
/// cut there.
std::int64_t padded_taps(const window& w, const shape_t& at) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < w.axes(); ++d) {
    std::int64_t inside = 0;
    for (std::int64_t k = 0; k < w.kernel[d]; ++k)
      if (at[d] * w.stride[d] + k * w.dilation[d] < w.pad_begin[d] + w.input[d] + w.pad_end[d]) ++inside;
    count *= inside;
  }
  return count;
}

void infer_average_pool(call& c) {
  infer_pool(c);
  c.require_float(0);
}

void evaluate_average_pool(call& c) {
  const window w = pool_window(c);
  const std::int64_t in_plane = count_of(w.input);
  const bool include_pad = c.op().integer("count_include_pad", 0) != 0;
  for_each_window(c, w, [&](std::int64_t plane, std::int64_t i, const shape_t& at, const std::vector<tap>& taps) {
    double sum = 0;
    for (const tap& t : taps) sum += c.floats(0)[plane * in_plane + t.offset];
    c.out_floats()[i] =
        sum / static_cast<double>(include_pad ? padded_taps(w, at) : static_cast<std::int64_t>(taps.size()));
  });
}

void evaluate_lp_pool(call& c) {
  const window w = pool_window(c);
  const std::int64_t in_plane = count_of(w.input);
  const auto p = static_cast<double>(c.op().integer("p", 2));
  for_each_window(c, w, [&](std::int64_t plane, std::int64_t i, const shape_t&, const std::vector<tap>& taps) {
    double sum = 0;
    for (const tap& t : taps) sum += std::pow(std::fabs(c.floats(0)[plane * in_plane + t.offset]), p);
    c.out_floats()[i] = std::pow(sum, 1 / p);
  });
}

double work_of_pool(call& c) {
  const window w = pool_window(c);
  return as_work(count_of(w.output)) * as_work(count_of(w.kernel)) *
         (4 * as_work(c.shape(0)[0]) * as_work(c.shape(0)[1]) + 8 * as_work(static_cast<std::int64_t>(w.axes())));
}

void infer_global(call& c) {
  c.require_inputs(1, 1);
  c.require_float(0);
  c.require_rank(0, 2, 8);
  c.declare(0, c.type(0), with_spatial(c.shape(0)[0], c.shape(0)[1], shape_t(c.rank(0) - 2, 1)));
}

/// y = finish(sum of term(x), n) over each plane, or its maximum.
template <class Combine, class Finish>
void reduce_planes(call& c, double start, Combine combine, Finish finish) {
  const std::int64_t plane = count_between(c.shape(0), 2, c.rank(0));
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    double sum = start;
    for (std::int64_t k = 0; k < plane; ++k) sum = combine(sum, c.floats(0)[i * plane + k]);
    c.out_floats()[i] = finish(sum, static_cast<double>(plane));
  }
}

void evaluate_global_average(call& c) {
  reduce_planes(
      c, 0, [](double sum, double x) { return sum + x; }, [](double sum, double n) { return sum / n; });
}

void evaluate_global_max(call& c) {
  reduce_planes(
      c, -std::numeric_limits<double>::infinity(), [](double best, double x) { return x > best || x != x ? x : best; },
      [](double best, double) { return best; });
}

void evaluate_global_lp(call& c) {
  const auto p = static_cast<double>(c.op().integer("p", 2));
  reduce_planes(
      c, 0, [=](double sum, double x) { return sum + std::pow(std::fabs(x), p); },
      [=](double sum, double) { return std::pow(sum, 1 / p); });
}

}

void add_pooling(table& t) {
  t["MaxPool"] = {infer_pool, evaluate_max_pool, 1, work_of_pool};
  t["AveragePool"] = {infer_average_pool, evaluate_average_pool, 1, work_of_pool};
  t["LpPool"] = {infer_average_pool, evaluate_lp_pool, 1, work_of_pool};
  t["GlobalAveragePool"] = {infer_global, evaluate_global_average};
  t["GlobalMaxPool"] = {infer_global, evaluate_global_max};
  t["GlobalLpPool"] = {infer_global, evaluate_global_lp};
}

}
