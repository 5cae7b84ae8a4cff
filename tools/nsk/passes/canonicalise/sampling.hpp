// SPDX-License-Identifier: MIT
#pragma once
/// Pixels at computed places, as gathers of whole pixels and arithmetic on their weights.
#include <cstdint>
#include <string>
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// Arithmetic on small tensors whose values need no names of their own.
class place_arithmetic {
 public:
  explicit place_arithmetic(context& c) : m_c(c) {}

  int scalar(double v);
  int combine(binary_kind kind, int a, int b);
  int add(int a, double b) { return combine(binary_kind::add, a, scalar(b)); }
  int times(int a, double b) { return combine(binary_kind::mul, a, scalar(b)); }
  int apply(function fn, int x, double alpha = 0, double beta = 0);
  int clipped(int x, double low, double high) { return apply(function::clip, x, low, high); }
  /// 1 - x.
  int rest_of(int x) { return add(apply(function::neg, x), 1); }
  /// A suffix that no other value of the node has.
  std::string name(const std::string& what) { return what + std::to_string(m_count++); }

 private:
  context& m_c;
  int m_count = 0;
};

/// Where the taps of all places are along one axis, in whole pixels, and their weights; none where there is one tap.
struct axis_places {
  std::vector<int> taps, weights;
};

/// Pixels, and where to sample them. What belongs to places has the shape `places`, or one that broadcasts to it.
struct sampled_places {
  int rows = no_value;                ///< [pixels, channels]
  std::vector<axis_places> axes;      ///< outermost first
  std::vector<std::int64_t> lengths;  ///< of the axes
  int first = no_value;               ///< row of the image's first pixel; no_value: 0
  shape_t places;
  bool largest = false;  ///< the largest product of a pixel and its weights in place of their sum
};

/// Refuses images whose rows are too many to be counted in single precision.
void require_countable(const context& c, std::int64_t rows);
/// Returns the sampled pixels [places..., channels].
int sample_places(context& c, place_arithmetic& a, const sampled_places& s);

}
