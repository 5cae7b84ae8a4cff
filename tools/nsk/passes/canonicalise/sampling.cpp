// SPDX-License-Identifier: MIT
#include "passes/canonicalise/sampling.hpp"
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"

namespace nsk::tool::canonical {
namespace {

/// One sampling on its way to gathers: goes through the taps of the first axis, for each of them through those of the
/// second one, and so on.
class sampling {
 public:
  sampling(context& c, place_arithmetic& a, const sampled_places& s) : m_c(c), m_a(a), m_s(s) {}

  /// The weighted sum over taps of the axes from `axis` on, at pixel `at` of the axes before.
  int from_axis(std::size_t axis, int at, const std::string& name) {
    if (axis == m_s.axes.size()) return picked(at, name);
    const axis_places& taps = m_s.axes[axis];
    int sum = no_value;
    for (std::size_t i = 0; i < taps.taps.size(); ++i) {
      const int inner =
          at == no_value
              ? taps.taps[i]
              : m_a.combine(binary_kind::add, m_a.times(at, static_cast<double>(m_s.lengths[axis])), taps.taps[i]);
      const int pixels = from_axis(axis + 1, inner, name + std::to_string(i));
      sum = added(sum, weighted(pixels, taps, i, name), name + "_sum" + std::to_string(i));
    }
    return sum;
  }

 private:
  int picked(int at, const std::string& name) {
    if (m_s.first != no_value) at = m_a.combine(binary_kind::add, at, m_s.first);
    const int index = m_c.temporary("index_" + name, m_c.shape(at), element::i32);
    m_c.emit(cast_params{}, {at}, index);
    const std::int64_t channels = m_c.shape(m_s.rows)[1], count = count_of(m_s.places);
    const int result = m_c.temporary("pixels_" + name, {count, channels});
    m_c.emit(gather_parameters{0, false, true}, {m_s.rows, reshaped(m_c, index, {count})}, result);
    shape_t shape = m_s.places;
    shape.push_back(channels);
    return reshaped(m_c, result, shape);
  }
  int weighted(int pixels, const axis_places& taps, std::size_t i, const std::string& name) {
    if (taps.weights.empty()) return pixels;
    shape_t shape = m_c.shape(taps.weights[i]);
    shape.push_back(1);
    return combine(m_c, binary_kind::mul, pixels, reshaped(m_c, taps.weights[i], shape),
                   name + "_product" + std::to_string(i));
  }
  int added(int sum, int x, const std::string& name) {
    if (sum == no_value) return x;
    return combine(m_c, m_s.largest ? binary_kind::max : binary_kind::add, sum, x, name);
  }

  context& m_c;
  place_arithmetic& m_a;
  const sampled_places& m_s;
};

}

int place_arithmetic::scalar(double v) { return canonical::scalar(m_c, name("number"), v); }

int place_arithmetic::combine(binary_kind kind, int a, int b) {
  return canonical::combine(m_c, kind, a, b, name("value"));
}

int place_arithmetic::apply(function fn, int x, double alpha, double beta) {
  return canonical::apply(m_c, x, fn, name("value"), alpha, beta);
}

void require_countable(const context& c, std::int64_t rows) {
  if (rows > std::int64_t{1} << 24) c.refuse("the image has more than 2^24 pixels; sample smaller ones");
}

int sample_places(context& c, place_arithmetic& a, const sampled_places& s) {
  return sampling(c, a, s).from_axis(0, no_value, "tap");
}

}
