// SPDX-License-Identifier: MIT
/// GridSample of images and volumes, and AffineGrid, which makes its places.
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"
#include "passes/canonicalise/sampling.hpp"

namespace nsk::tool::canonical {
namespace {

/// One GridSample on its way to canonical operations. The image becomes rows of channels; zeros around it are a ring
/// of one pixel, to which every tap outside is moved. Values that belong to places have the shape [N, places].
class grid_sampling {
 public:
  explicit grid_sampling(context& c) : m_c(c), m_a(c), m_x(c.in_shape(0)), m_grid(c.in_shape(1)) {
    const node& n = c.op();
    if (m_x.size() != 4 && m_x.size() != 5) c.refuse("GridSample has images [N, C, H, W] or volumes [N, C, D, H, W]");
    m_mode = n.text("mode", "linear");
    if (is_cubic() && m_x.size() != 4) c.refuse("the mode cubic is defined for images alone; use linear");
    m_padding = n.text("padding_mode", "zeros");
    m_aligned = n.integer("align_corners", 0) != 0;
    m_ring = m_padding == "zeros" ? 1 : 0;
    m_places = count_of({m_grid.begin() + 1, m_grid.end() - 1});
    std::int64_t rows = m_x[0];
    for (std::size_t d = 2; d < m_x.size(); ++d) rows *= m_x[d] + 2;
    require_countable(c, rows);
  }

  void run() {
    sampled_places s;
    s.rows = image_rows();
    const std::size_t dims = m_x.size() - 2;
    std::int64_t pixels = 1;
    for (std::size_t d = 0; d < dims; ++d) {
      s.axes.push_back(place_along(static_cast<std::int64_t>(dims - 1 - d), m_x[d + 2]));
      s.lengths.push_back(m_x[d + 2] + 2 * m_ring);
      pixels *= s.lengths.back();
    }
    s.places = {m_x[0], m_places};
    if (m_x[0] > 1) {
      std::vector<double> first;
      for (std::int64_t i = 0; i < m_x[0]; ++i) first.push_back(static_cast<double>(i * pixels));
      s.first = constant(m_c, "first_pixels", {m_x[0], 1}, first);
    }
    const int sum = sample_places(m_c, m_a, s);
    shape_t shape(m_grid.begin(), m_grid.end() - 1);
    shape.push_back(m_x[1]);
    const int result = m_c.temporary("result", shape);
    m_c.emit(reshape_parameters{true}, {sum}, result);
    std::vector<int> channels_first = {0, static_cast<int>(dims) + 1};
    for (std::size_t d = 0; d < dims; ++d) channels_first.push_back(static_cast<int>(d) + 1);
    m_c.emit(transpose_parameters{channels_first}, {result});
  }

 private:
  bool is_cubic() const { return m_mode == "cubic" || m_mode == "bicubic"; }

  /// The image as [N * pixels, C], with its ring.
  int image_rows() {
    int x = m_c.in(0);
    shape_t shape = m_x;
    std::vector<int> channels_last = {0};
    pad_parameters p;
    p.before = {0, 0};
    for (std::size_t d = 2; d < m_x.size(); ++d) {
      shape[d] += 2 * m_ring;
      p.before.push_back(m_ring);
      channels_last.push_back(static_cast<int>(d));
    }
    channels_last.push_back(1);
    p.after = p.before;
    if (m_ring != 0) {
      const int ringed = m_c.temporary("ringed", shape);
      m_c.emit(std::move(p), {x}, ringed);
      x = ringed;
    }
    return reshaped(m_c, transposed(m_c, x, channels_last, "turned"), {count_of(shape) / shape[1], shape[1]});
  }

  /// x between two mirrors, of which one is at `low` and `span` is their distance.
  int reflected(int x, double low, double span) {
    if (!(span > 0)) return m_a.times(x, 0);
    const int way = m_a.apply(function::abs, m_a.add(x, -low));
    const int rounds = m_a.apply(function::floor, m_a.times(way, 0.5 / span));
    const int rest = m_a.combine(binary_kind::sub, way, m_a.times(rounds, 2 * span));
    return m_a.add(m_a.combine(binary_kind::min, rest, m_a.add(m_a.apply(function::neg, rest), 2 * span)), low);
  }
  int mirrored(int x, std::int64_t length) {
    const auto l = static_cast<double>(length);
    return m_aligned ? reflected(x, 0, l - 1) : reflected(x, -0.5, l);
  }

  /// The `length` positions of an axis at [-1, 1] of the grid; places that are outside are kept at a distance that
  /// changes nothing any more.
  int position(std::int64_t coordinate, std::int64_t length) {
    const auto l = static_cast<double>(length);
    const int one =
        reshaped(m_c, part(m_c, m_c.in(1), m_grid.size() - 1, coordinate, 1, m_a.name("grid")), {m_x[0], m_places});
    int x = m_a.times(m_a.add(one, 1), m_aligned ? (l - 1) / 2 : l / 2);
    if (!m_aligned) x = m_a.add(x, -0.5);
    if (m_mode == "nearest") x = m_a.apply(function::round, x);
    if (m_padding == "reflection") return mirrored(x, length);
    return m_a.clipped(x, -3, l + 2);
  }
  /// A tap as a position of the image, the ring's included.
  int inside(int tap, std::int64_t length) {
    const auto l = static_cast<double>(length);
    if (m_padding == "reflection") tap = mirrored(tap, length);
    return m_a.clipped(m_ring != 0 ? m_a.add(tap, 1) : tap, 0, m_ring != 0 ? l + 1 : l - 1);
  }

  axis_places place_along(std::int64_t coordinate, std::int64_t length) {
    axis_places a;
    const int x = position(coordinate, length);
    if (m_mode == "nearest") {
      a.taps = {inside(x, length)};
      return a;
    }
    const int first = m_a.apply(function::floor, x), share = m_a.combine(binary_kind::sub, x, first);
    for (int tap = is_cubic() ? -1 : 0; tap < (is_cubic() ? 3 : 2); ++tap)
      a.taps.push_back(inside(tap == 0 ? first : m_a.add(first, tap), length));
    const int rest = m_a.rest_of(share);
    if (!is_cubic()) {
      a.weights = {rest, share};
      return a;
    }
    // R. Keys, "Cubic convolution interpolation", 1981, with A = -0.75, at distances 1 + t, t, 1 - t and 2 - t
    a.weights = {far_weight(share), near_weight(share), near_weight(rest), far_weight(rest)};
    return a;
  }
  /// ((A + 2) t - (A + 3)) t^2 + 1
  int near_weight(int t) {
    const int square = m_a.combine(binary_kind::mul, t, t);
    return m_a.add(m_a.combine(binary_kind::mul, m_a.add(m_a.times(t, 1.25), -2.25), square), 1);
  }
  /// ((A d - 5 A) d + 8 A) d - 4 A at d = 1 + t, which is A t (1 - t)^2
  int far_weight(int t) {
    const int rest = m_a.rest_of(t);
    return m_a.times(m_a.combine(binary_kind::mul, t, m_a.combine(binary_kind::mul, rest, rest)), -0.75);
  }

  context& m_c;
  place_arithmetic m_a;
  const shape_t m_x, m_grid;
  std::string m_mode, m_padding;
  bool m_aligned = false;
  std::int64_t m_ring = 0, m_places = 0;
};

void grid_sample(context& c) { grid_sampling(c).run(); }

/// Theta times the centres of pixels between -1 and 1, or with align_corners from -1 to 1: a product with a constant,
/// whose many columns are vectors.
void affine_grid(context& c) {
  const shape_t theta = c.in_shape(0), &y = c.out_shape();
  const bool aligned = c.op().integer("align_corners", 0) != 0;
  const std::size_t dims = y.size() - 2;
  const std::int64_t places = count_of({y.begin() + 1, y.end() - 1}), columns = static_cast<std::int64_t>(dims) + 1;
  c.charge(static_cast<double>(places) * static_cast<double>(columns));
  dense_parameters grid;
  grid.depth = static_cast<int>(columns);
  grid.outputs = static_cast<int>(places);
  grid.weights.assign(static_cast<std::size_t>(places * columns), 1);
  grid.bias.assign(static_cast<std::size_t>(places), 0);
  for (std::int64_t p = 0; p < places; ++p) {
    std::int64_t rest = p;
    for (std::size_t d = dims; d-- > 0;) {  // x first
      const auto length = static_cast<double>(y[d + 1]), at = static_cast<double>(rest % y[d + 1]);
      grid.weights[(dims - 1 - d) * static_cast<std::size_t>(places) + static_cast<std::size_t>(p)] =
          !aligned     ? (2 * at + 1) / length - 1
          : length > 1 ? 2 * at / (length - 1) - 1
                       : -1.0;
      rest /= y[d + 1];
    }
  }
  const int product = c.temporary("product", {theta[0], static_cast<std::int64_t>(dims), places});
  c.emit(std::move(grid), {c.in(0)}, product);
  c.emit(reshape_parameters{}, {transposed(c, product, {0, 2, 1}, "places")});
}

}

void add_sample(rule_table& t) {
  t["GridSample"] = {grid_sample};
  t["AffineGrid"] = {affine_grid};
}

}
