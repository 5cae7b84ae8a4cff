// SPDX-License-Identifier: MIT
#include "check/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <netsuke/core/tensor.hpp>

namespace nsk::tool {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double largest_float = static_cast<double>(std::numeric_limits<float>::max());
/// What float32 may lose in a sum, as a share of its operands.
constexpr double rounding = 4 * static_cast<double>(std::numeric_limits<float>::epsilon());

/// Whether float32 has no such number: the reference computes in double precision, where few sums overflow.
bool overflows(double x, element type) { return type == element::f32 && std::fabs(x) > largest_float; }

/// A number as the engine's type would have it: what is beyond the numbers of float32 is infinite.
double representable(double x, element type) { return overflows(x, type) ? std::copysign(infinite, x) : x; }

double ulp_of(double x) {
  const float magnitude = static_cast<float>(std::fabs(x));
  return static_cast<double>(std::nextafter(magnitude, std::numeric_limits<float>::infinity())) -
         static_cast<double>(magnitude);
}

/// Reads elements as double: a plain load for the types that tensors mostly have.
struct any_number {
  const array& a;
  double operator()(std::int64_t i) const { return a.number(i); }
};
template <class T>
struct number_of {
  const T* data;
  double operator()(std::int64_t i) const { return static_cast<double>(data[i]); }
};
template <class F>
auto with_numbers(const array& a, F f) {
  if (a.type == element::f32) return f(number_of<float>{a.as<float>()});
  if (a.type == element::f64) return f(number_of<double>{a.as<double>()});
  return f(any_number{a});
}

/// Elements `at`, `at + stride`, ... of the reference beside consecutive ones of the engine.
struct run_of_elements {
  std::int64_t first, count, at, stride;
};

/// Every how-manieth run is looked at where `sampled` elements are enough: a number that shares no factor with a
/// length, so that rows, columns and images take turns.
std::int64_t hop_of(const std::vector<std::int64_t>& lengths, std::int64_t sampled) {
  const std::int64_t total = count_of(lengths);
  std::int64_t hop = std::max<std::int64_t>(1, total / std::max<std::int64_t>(sampled, 1));
  const auto shares = [&](std::int64_t length) { return std::gcd(hop, length) > 1; };
  while (hop > 1 && std::any_of(lengths.begin(), lengths.end() - 1, shares)) ++hop;
  return hop;
}

/// Visits `wanted` in the order of its axes as they are stored in the engine's tensor; about `sampled` elements of it
/// where it has more, the first and the last run always.
template <class F>
void for_each_run(const shape_t& shape, const std::vector<int>& order, std::int64_t sampled, F f) {
  const std::size_t rank = shape.size();
  if (rank == 0) return f(run_of_elements{0, 1, 0, 1});
  std::vector<std::int64_t> stride(rank, 1), lengths, steps;
  for (std::size_t d = rank - 1; d-- > 0;) stride[d] = stride[d + 1] * shape[d + 1];
  for (int axis : order) {
    lengths.push_back(shape[static_cast<std::size_t>(axis)]);
    steps.push_back(stride[static_cast<std::size_t>(axis)]);
  }
  const std::int64_t total = count_of(shape), length = lengths.back();
  if (total == 0) return;
  const std::int64_t runs = total / length, hop = hop_of(lengths, sampled);
  for (std::int64_t run = 0; run < runs; run = run == runs - 1 ? runs : std::min(run + hop, runs - 1)) {
    std::int64_t at = 0, rest = run;
    for (std::size_t d = rank - 1; d-- > 0; rest /= lengths[d]) at += rest % lengths[d] * steps[d];
    f(run_of_elements{run * length, length, at, steps.back()});
  }
}

}

void sort_worst_first(std::vector<comparison>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const comparison& a, const comparison& b) { return a.relative > b.relative; });
}

double largest_of(const array& a, element type) {
  double largest = 0;
  const std::int64_t count = a.count();
  with_numbers(a, [&](auto number) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = std::fabs(representable(number(i), type));
      if (x > largest && x < infinite) largest = x;
    }
  });
  return largest;
}

double difference(double got, double reference, element type) {
  if (std::isfinite(reference) && overflows(reference, type)) return std::isfinite(got) ? infinite : 0;
  if (std::isnan(got) && std::isnan(reference)) return 0;
  if (got == reference) return 0;
  const double d = std::fabs(got - reference);
  return std::isnan(d) ? infinite : d <= no_difference ? 0 : d;
}

std::vector<int> same_order(std::size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

comparison measure(const array& got, const array& wanted, const std::vector<int>& order, double operands,
                   std::int64_t sampled) {
  comparison c;
  double sum = 0;
  std::int64_t count = 0;
  const bool exact = !is_float(got.type);
  if (exact) sampled = all_elements;
  with_numbers(got, [&](auto g) {
    with_numbers(wanted, [&](auto w) {
      for_each_run(wanted.shape, order, sampled, [&](const run_of_elements& r) {
        for (std::int64_t i = 0, at = r.at; i < r.count; ++i, at += r.stride) {
          const double magnitude = std::fabs(representable(w(at), got.type));
          if (magnitude > c.largest && magnitude < infinite) c.largest = magnitude;
        }
      });
      const double counts_as_large = 1e-3 * c.largest;
      for_each_run(wanted.shape, order, sampled, [&](const run_of_elements& r) {
        count += r.count;
        for (std::int64_t i = 0, at = r.at; i < r.count; ++i, at += r.stride) {
          const double reference = representable(w(at), got.type);
          const double d = difference(g(r.first + i), w(at), got.type);
          sum += d;
          if (d > c.max_error) c.max_error = d;
          if (exact && d > 0) ++c.unequal;
          // an ULP is at least 2^-24 of the number: most elements need no more than this look
          if (d * 0x1p24 <= c.ulp * std::fabs(reference)) continue;
          if (std::isfinite(reference) && std::fabs(reference) > counts_as_large)
            c.ulp = std::max(c.ulp, d / ulp_of(reference));
        }
      });
    });
  });
  c.mean_error = count > 0 ? sum / static_cast<double>(count) : 0;
  const double share = std::max(c.largest, c.max_error <= rounding * operands ? operands : 0.0);
  c.relative = share > 0 ? c.max_error / share : c.max_error;
  if (exact) c.integers = count;
  c.bytes = got.type == element::i8 || got.type == element::u8;
  c.differing = c.unequal;
  if (c.unequal > 0) c.relative = std::max(c.relative, wrong_integer);
  return c;
}

comparison measure(const array& got, const array& wanted, double operands, std::int64_t sampled) {
  return measure(got, wanted, same_order(wanted.shape.size()), operands, sampled);
}

}
