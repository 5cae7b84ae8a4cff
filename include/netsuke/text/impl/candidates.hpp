// SPDX-License-Identifier: MIT
#pragma once
/// The tokens that one step may choose among, and how likely each is. All sums are made in a fixed order, and
/// exponentials are the engine's own: the same choice on every machine.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <netsuke/core/span.hpp>
#include <netsuke/math/exponential.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// values[i] = e^((values[i] - maximum) / temperature), where no value is above the maximum.
inline void weigh(float* values, std::size_t count, float maximum, float temperature) {
  using simd::f32;
  const f32 largest = simd::splat(maximum), divisor = simd::splat(temperature);
  const auto weight = [&](f32 x)
                          NSK_INLINE_LAMBDA { return math::exp_negative(simd::div(simd::sub(x, largest), divisor)); };
  std::size_t i = 0;
  for (; i + f32::lanes <= count; i += f32::lanes) simd::store(values + i, weight(simd::load(values + i)));
  const int left = static_cast<int>(count - i);
  if (left != 0) simd::store_partial(values + i, left, weight(simd::load_partial(values + i, left)));
}

/// What a token that was there before gets in place of its logit.
inline float penalized(float logit, float penalty) { return logit < 0 ? logit * penalty : logit / penalty; }

/// The sum of weights, from the first to the last.
inline double sum_of(const float* weights, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(weights[i]);
  return sum;
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// A list of candidates of which the best can be taken out one after the other.
struct candidate_list {
  float *logits, *weights;
  std::uint32_t* ids;
  std::size_t count = 0;

  void add(float logit, std::uint32_t id) { logits[count] = logit, ids[count++] = id; }
  bool is_better(std::size_t a, std::size_t b) const {
    return logits[a] != logits[b] ? logits[a] > logits[b] : ids[a] < ids[b];
  }
  std::size_t best() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; ++i) best = is_better(i, best) ? i : best;
    return best;
  }

  /// Makes a heap of the list: the best first.
  void make_heap() {
    for (std::size_t i = count / 2; i-- != 0;) sink(i, count);
  }
  /// Moves the best of the first `size` candidates to their end.
  void take_best(std::size_t size) {
    swap(0, size - 1);
    sink(0, size - 1);
  }

 private:
  void swap(std::size_t a, std::size_t b) {
    const float logit = logits[a], weight = weights[a];
    const std::uint32_t id = ids[a];
    logits[a] = logits[b], weights[a] = weights[b], ids[a] = ids[b];
    logits[b] = logit, weights[b] = weight, ids[b] = id;
  }
  void sink(std::size_t i, std::size_t size) {
    for (std::size_t child; (child = 2 * i + 1) < size; i = child) {
      if (child + 1 < size && is_better(child + 1, child)) ++child;
      if (!is_better(child, i)) break;
      swap(i, child);
    }
  }
};

/// A number in [0, 1) for one place of one sequence: the bits of a counter, mixed (Steele, Lea and Flood, 2014).
inline double random_fraction(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t bits = seed + (place + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0);
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
