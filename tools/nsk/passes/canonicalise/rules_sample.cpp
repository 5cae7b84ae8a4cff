// SPDX-License-Identifier: MIT
/// GridSample: pixels at computed places, as gathers of whole pixels and arithmetic on their weights.
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

/// One GridSample on its way to canonical operations. The image becomes rows of channels; zeros around it are a ring
/// of one pixel, to which every tap outside is moved. Values that belong to places have the shape [N, places].
class sampling {
 public:
  explicit sampling(context& c) : m_c(c), m_x(c.in_shape(0)), m_grid(c.in_shape(1)) {
    const node& n = c.op();
    if (m_x.size() != 4) c.refuse("GridSample has a kernel for images [N, C, H, W]");
    m_mode = n.text("mode", "linear");
    m_padding = n.text("padding_mode", "zeros");
    m_aligned = n.integer("align_corners", 0) != 0;
    m_ring = m_padding == "zeros" ? 1 : 0;
    m_places = m_grid[1] * m_grid[2];
    if (m_x[0] * (m_x[2] + 2) * (m_x[3] + 2) > std::int64_t{1} << 24)
      c.refuse("the image has more than 2^24 pixels; sample smaller ones");
  }

  void run() {
    const int rows = image_rows();
    const axis across = place_along(1, m_x[3], "x"), down = place_along(0, m_x[2], "y");
    int sum = no_value;
    for (std::size_t i = 0; i < down.taps.size(); ++i) {
      int line = no_value;
      for (std::size_t j = 0; j < across.taps.size(); ++j) {
        const int pixels = picked(rows, down.taps[i], across.taps[j], "tap" + std::to_string(i) + std::to_string(j));
        line = weighted_sum(line, pixels, across.weights, j, "across" + std::to_string(i) + std::to_string(j));
      }
      sum = weighted_sum(sum, line, down.weights, i, "down" + std::to_string(i));
    }
    const int result = m_c.temporary("result", {m_x[0], m_grid[1], m_grid[2], m_x[1]});
    m_c.emit(reshape_parameters{true}, {sum}, result);
    m_c.emit(transpose_parameters{{0, 3, 1, 2}}, {result});
  }

 private:
  /// Where the taps of all places are along one axis, and their weights; none where there is one tap.
  struct axis {
    std::vector<int> taps, weights;
  };

  int scalar(double v) { return canonical::scalar(m_c, "number" + std::to_string(m_count++), v); }
  int combine(binary_kind kind, int a, int b) {
    return canonical::combine(m_c, kind, a, b, "value" + std::to_string(m_count++));
  }
  int add(int a, double b) { return combine(binary_kind::add, a, scalar(b)); }
  int times(int a, double b) { return combine(binary_kind::mul, a, scalar(b)); }
  int apply(function fn, int x, double alpha = 0, double beta = 0) {
    return canonical::apply(m_c, x, fn, "value" + std::to_string(m_count++), alpha, beta);
  }
  int clipped(int x, double low, double high) { return apply(function::clip, x, low, high); }

  /// The image as [N * H * W, C], with its ring.
  int image_rows() {
    int x = m_c.in(0);
    shape_t shape = m_x;
    if (m_ring != 0) {
      pad_parameters p;
      p.before = p.after = {0, 0, m_ring, m_ring};
      shape[2] += 2;
      shape[3] += 2;
      const int ringed = m_c.temporary("ringed", shape);
      m_c.emit(std::move(p), {x}, ringed);
      x = ringed;
    }
    return reshaped(m_c, transposed(m_c, x, {0, 2, 3, 1}, "turned"), {shape[0] * shape[2] * shape[3], shape[1]});
  }

  /// x between two mirrors, of which one is at `low` and `span` is their distance.
  int reflected(int x, double low, double span) {
    if (!(span > 0)) return times(x, 0);
    const int way = apply(function::abs, add(x, -low));
    const int rounds = apply(function::floor, times(way, 0.5 / span));
    const int rest = combine(binary_kind::sub, way, times(rounds, 2 * span));
    return add(combine(binary_kind::min, rest, add(apply(function::neg, rest), 2 * span)), low);
  }
  int mirrored(int x, std::int64_t length) {
    const auto l = static_cast<double>(length);
    return m_aligned ? reflected(x, 0, l - 1) : reflected(x, -0.5, l);
  }

  /// The `length` positions of an axis at [-1, 1] of the grid; places that are outside are kept at a distance that
  /// changes nothing any more.
  int position(std::int64_t coordinate, std::int64_t length, const std::string& name) {
    const auto l = static_cast<double>(length);
    const int grid = m_c.in(1);
    const int one = reshaped(m_c, part(m_c, grid, 3, coordinate == 1 ? 0 : 1, 1, "grid_" + name), {m_x[0], m_places});
    int x = times(add(one, 1), m_aligned ? (l - 1) / 2 : l / 2);
    if (!m_aligned) x = add(x, -0.5);
    if (m_mode == "nearest") x = apply(function::round, x);
    if (m_padding == "reflection") return mirrored(x, length);
    return clipped(x, -3, l + 2);
  }
  /// A tap as a position of the image, the ring's included.
  int inside(int tap, std::int64_t length) {
    const auto l = static_cast<double>(length);
    if (m_padding == "reflection") tap = mirrored(tap, length);
    return clipped(m_ring != 0 ? add(tap, 1) : tap, 0, m_ring != 0 ? l + 1 : l - 1);
  }

  axis place_along(std::int64_t coordinate, std::int64_t length, const std::string& name) {
    axis a;
    const int x = position(coordinate, length, name);
    if (m_mode == "nearest") {
      a.taps = {inside(x, length)};
      return a;
    }
    const int first = apply(function::floor, x), share = combine(binary_kind::sub, x, first);
    const bool cubic = m_mode == "cubic" || m_mode == "bicubic";
    for (int tap = cubic ? -1 : 0; tap < (cubic ? 3 : 2); ++tap)
      a.taps.push_back(inside(tap == 0 ? first : add(first, tap), length));
    if (!cubic) {
      a.weights = {add(apply(function::neg, share), 1), share};
      return a;
    }
    // R. Keys, "Cubic convolution interpolation", 1981, with A = -0.75, at distances 1 + t, t, 1 - t and 2 - t
    const int rest = add(apply(function::neg, share), 1);
    a.weights = {far_weight(share), near_weight(share), near_weight(rest), far_weight(rest)};
    return a;
  }
  /// ((A + 2) t - (A + 3)) t^2 + 1
  int near_weight(int t) {
    return add(combine(binary_kind::mul, add(times(t, 1.25), -2.25), combine(binary_kind::mul, t, t)), 1);
  }
  /// ((A d - 5 A) d + 8 A) d - 4 A at d = 1 + t, which is A t (1 - t)^2
  int far_weight(int t) {
    const int rest = add(apply(function::neg, t), 1);
    return times(combine(binary_kind::mul, t, combine(binary_kind::mul, rest, rest)), -0.75);
  }

  /// Pixels [N * places, C] at rows and columns of the image.
  int picked(int rows, int row, int column, const std::string& name) {
    const std::int64_t height = m_x[2] + 2 * m_ring, width = m_x[3] + 2 * m_ring;
    int at = combine(binary_kind::add, times(row, static_cast<double>(width)), column);
    if (m_x[0] > 1) {
      std::vector<double> first;
      for (std::int64_t i = 0; i < m_x[0]; ++i) first.push_back(static_cast<double>(i * height * width));
      at = combine(binary_kind::add, at, constant(m_c, "pictures" + std::to_string(m_count++), {m_x[0], 1}, first));
    }
    const int index = m_c.temporary("index_" + name, m_c.shape(at), element::i32);
    m_c.emit(cast_params{}, {at}, index);
    const int result = m_c.temporary(name, {m_x[0] * m_places, m_x[1]});
    m_c.emit(gather_parameters{0, false}, {rows, reshaped(m_c, index, {m_x[0] * m_places})}, result);
    return result;
  }
  /// sum + weight * x, rows of channels; x alone where there are no weights.
  int weighted_sum(int sum, int x, const std::vector<int>& weights, std::size_t tap, const std::string& name) {
    if (weights.empty()) return x;
    const int weight = reshaped(m_c, weights[tap], {m_x[0] * m_places, 1});
    const int product = canonical::combine(m_c, binary_kind::mul, x, weight, name + "_product");
    return sum == no_value ? product : canonical::combine(m_c, binary_kind::add, sum, product, name);
  }

  context& m_c;
  const shape_t &m_x, &m_grid;
  std::string m_mode, m_padding;
  bool m_aligned = false;
  std::int64_t m_ring = 0, m_places = 0;
  int m_count = 0;
};

void grid_sample(context& c) { sampling(c).run(); }

}

void add_sample(rule_table& t) { t["GridSample"] = {grid_sample}; }

}
