// SPDX-License-Identifier: MIT
/// Reductions over axes: ReduceX, ArgMax, ArgMin, CumSum.
#include <cmath>
#include <limits>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

/// Axes come as an attribute in older opsets and as input 1 since (13 for ReduceSum, 18 for the rest). Returns a flag
/// per axis.
std::vector<bool> reduced_axes(const call& c) {
  std::vector<std::int64_t> axes = c.op().integers("axes");
  if (c.has(1)) axes = c.integer_list(1);
  const bool keep = axes.empty() && c.op().integer("noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(c.rank(0), axes.empty() && !keep);
  for (std::int64_t a : axes) reduced[c.axis(a, c.rank(0))] = true;
  return reduced;
}

shape_t reduced_shape(const call& c, const std::vector<bool>& reduced, bool keep_axes) {
  shape_t shape;
  for (std::size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d])
      shape.push_back(c.shape(0)[d]);
    else if (keep_axes)
      shape.push_back(1);
  }
  return shape;
}

void infer_reduce(call& c) {
  c.require_inputs(1, 2);
  c.declare(0, c.type(0), reduced_shape(c, reduced_axes(c), c.op().integer("keepdims", 1) != 0));
}

/// For each input element its output element: f(input index, output index).
template <class F>
void for_each_reduced(const call& c, F f) {
  const std::vector<bool> reduced = reduced_axes(c);
  for_each_offset(c.shape(0), broadcast_strides(reduced_shape(c, reduced, true), c.shape(0)), f);
}

/// Returns where a maximum starts: no number of the type is less.
template <class T>
constexpr T smallest() {
  if constexpr (std::is_same_v<T, double>)
    return -std::numeric_limits<double>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}
/// Returns where a minimum starts: no number of the type is greater. by_type() holds booleans as uint8_t, integers as
/// int64_t.
template <class T>
constexpr T largest() {
  if constexpr (std::is_same_v<T, double>)
    return std::numeric_limits<double>::infinity();
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return 1;
  else
    return std::numeric_limits<T>::max();
}

/// y = combine over the reduced axes, from `start`.
template <class F>
void reduce(call& c, int start, F combine) {
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    T* y = c.out(0).as<T>();
    for (std::int64_t i = 0; i < c.out(0).count(); ++i) y[i] = static_cast<T>(start);
    for_each_reduced(
        c, [&](std::int64_t i, std::int64_t at) { y[at] = static_cast<T>(combine(y[at], c.data(0).as<T>()[i])); });
  });
}

template <class F>
void finish(call& c, F f) {
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) c.out(0).set(i, f(c.out(0).number(i)));
}

/// How many input elements meet in one output element.
double reduced_count(const call& c) {
  const std::vector<bool> reduced = reduced_axes(c);
  double count = 1;
  for (std::size_t d = 0; d < reduced.size(); ++d)
    if (reduced[d]) count *= static_cast<double>(c.shape(0)[d]);
  return count;
}

void evaluate_sum(call& c) {
  reduce(c, 0, [](auto a, auto x) { return plus(a, x); });
}
void evaluate_prod(call& c) {
  reduce(c, 1, [](auto a, auto x) { return times(a, x); });
}
void evaluate_sum_square(call& c) {
  reduce(c, 0, [](auto a, auto x) { return plus(a, times(x, x)); });
}
void evaluate_l1(call& c) {
  reduce(c, 0, [](auto a, auto x) { return x < 0 ? minus(a, x) : plus(a, x); });
}

void evaluate_mean(call& c) {
  evaluate_sum(c);
  const double n = reduced_count(c);
  finish(c, [=](double sum) { return sum / n; });
}

void evaluate_l2(call& c) {
  evaluate_sum_square(c);
  finish(c, [](double sum) { return std::sqrt(sum); });
}

void evaluate_log_sum(call& c) {
  evaluate_sum(c);
  finish(c, [](double sum) { return std::log(sum); });
}

template <bool Max>
void evaluate_extreme(call& c) {
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    T* y = c.out(0).as<T>();
    for (std::int64_t i = 0; i < c.out(0).count(); ++i) y[i] = Max ? smallest<T>() : largest<T>();
    for_each_reduced(c, [&](std::int64_t i, std::int64_t at) {
      const T x = c.data(0).as<T>()[i];
      if ((Max ? x > y[at] : x < y[at]) || x != x) y[at] = x;
    });
  });
}

/// log(sum(exp(x))) with the maximum taken out first.
void evaluate_log_sum_exp(call& c) {
  c.require_float(0);
  evaluate_extreme<true>(c);
  const array highest = c.out(0);
  std::vector<double> sum(static_cast<std::size_t>(highest.count()));
  const auto shift = [&](std::int64_t at) {
    return std::isfinite(highest.as<double>()[at]) ? highest.as<double>()[at] : 0;
  };
  for_each_reduced(c, [&](std::int64_t i, std::int64_t at) {
    sum[static_cast<std::size_t>(at)] += std::exp(c.floats(0)[i] - shift(at));
  });
  for (std::int64_t i = 0; i < highest.count(); ++i)
    c.out_floats()[i] = std::log(sum[static_cast<std::size_t>(i)]) + shift(i);
}

// Positions of extremes.

void infer_arg(call& c) {
  c.require_inputs(1, 1);
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  shape_t shape = c.shape(0);
  c.require(shape[axis] > 0, "the axis is empty");
  shape[axis] = 1;
  if (c.op().integer("keepdims", 1) == 0) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  c.declare(0, element::i64, shape);
}

template <bool Max>
void evaluate_arg(call& c) {
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  const bool last = c.op().integer("select_last_index", 0) != 0;
  by_type(c.data(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    std::int64_t* y = c.out_integers();
    for_each_line(c.shape(0), axis, [&](std::int64_t first, std::int64_t stride, std::int64_t length) {
      const T* x = c.data(0).as<T>() + first;
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < length; ++k) {
        const T a = x[k * stride], b = x[best * stride];
        if ((Max ? a > b : a < b) || (last && a == b)) best = k;
      }
      *y++ = best;
    });
  });
}

void infer_cum_sum(call& c) {
  c.require_inputs(2, 2);
  c.declare(0, c.type(0), c.shape(0));
}

void evaluate_cum_sum(call& c) {
  const std::size_t axis = c.axis(c.integer_scalar(1), c.rank(0));
  const bool exclusive = c.op().integer("exclusive", 0) != 0, reverse = c.op().integer("reverse", 0) != 0;
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for_each_line(c.shape(0), axis, [&](std::int64_t first, std::int64_t stride, std::int64_t length) {
      T sum{};
      for (std::int64_t k = 0; k < length; ++k) {
        const std::int64_t at = first + (reverse ? length - 1 - k : k) * stride;
        const T x = c.data(0).as<T>()[at];
        c.out(0).as<T>()[at] = exclusive ? sum : plus(sum, x);
        sum = plus(sum, x);
      }
    });
  });
}

}

void add_reduction(table& t) {
  t["ReduceSum"] = {infer_reduce, evaluate_sum};
  t["ReduceMean"] = {infer_reduce, evaluate_mean};
  t["ReduceMax"] = {infer_reduce, evaluate_extreme<true>};
  t["ReduceMin"] = {infer_reduce, evaluate_extreme<false>};
  t["ReduceProd"] = {infer_reduce, evaluate_prod};
  t["ReduceSumSquare"] = {infer_reduce, evaluate_sum_square};
  t["ReduceL1"] = {infer_reduce, evaluate_l1};
  t["ReduceL2"] = {infer_reduce, evaluate_l2};
  t["ReduceLogSum"] = {infer_reduce, evaluate_log_sum};
  t["ReduceLogSumExp"] = {infer_reduce, evaluate_log_sum_exp};
  t["ArgMax"] = {infer_arg, evaluate_arg<true>};
  t["ArgMin"] = {infer_arg, evaluate_arg<false>};
  t["CumSum"] = {infer_cum_sum, evaluate_cum_sum, 11};
}

}
