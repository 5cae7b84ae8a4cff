// SPDX-License-Identifier: MIT
/// Max-pooling with the places of its maxima: each tap of the window is a slice; where it equals the maximum, its place
/// is taken, that of the first tap last. MaxUnpool writes maxima back to such places.
#include <algorithm>
#include <limits>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/windows.hpp"

namespace nsk::tool::canonical {
namespace {

/// Taps of a window: each takes two steps.
constexpr std::int64_t max_taps = 256;

class indexed_pool {
 public:
  explicit indexed_pool(context& c)
      : m_c(c), m_x(c.in_shape(0)), m_y(c.out_shape(1)), m_column_major(c.op().integer("storage_order", 0) != 0) {
    const std::vector<std::int64_t> kernel = c.op().integers("kernel_shape");
    if (m_x.size() < 3 || m_x.size() > 5) c.refuse("pooling has one, two or three spatial axes");
    if (c.in_type(0) != element::f32) c.refuse("its indices have a kernel for float32");
    m_axes = window_axes(c, c.op(), m_x, kernel, m_y);
    m_taps = count_of(kernel);
    m_positions = count_of({m_y.begin() + 2, m_y.end()});
    if (m_taps > max_taps)
      c.refuse("its window has " + std::to_string(m_taps) + " taps; with indices there may be " +
               std::to_string(max_taps) + ". Leave the indices out, or pool in two steps");
    c.charge(2 * static_cast<double>(m_positions) * static_cast<double>(m_taps) + static_cast<double>(m_x[0] * m_x[1]));
  }

  void run() {
    constexpr double below_all = -std::numeric_limits<double>::infinity();
    const int best = m_c.wants(0) ? m_c.out(0) : m_c.temporary("best", m_y),
              input = padded_for_taps(m_c, m_axes, m_y, below_all);
    write_pool(m_c, best);
    int place = table_of(m_taps - 1);
    for (std::int64_t k = m_taps - 1; k-- > 0;) {  // of equal taps the first one counts
      const std::string tap = std::to_string(k);
      const int is_best = m_c.temporary("is_best" + tap, m_y, element::boolean);
      m_c.emit(compare_params{compare_kind::equal}, {slice_of_tap(m_c, m_axes, input, m_y, k), best}, is_best);
      const int chosen = m_c.temporary("place" + tap, m_y, element::i32);
      m_c.emit(select_params{}, {is_best, table_of(k), place}, chosen);
      place = chosen;
    }
    add_planes(place);
  }

 private:
  std::size_t dims() const { return m_axes.size(); }

  /// Where tap `tap` of position `p` is in a plane; -1 in the padding.
  std::int64_t place_of(std::int64_t p, std::int64_t tap) const {
    std::int64_t place = 0, scale = 1, column_place = 0, column_scale = count_of({m_x.begin() + 2, m_x.end()});
    for (std::size_t d = dims(); d-- > 0;) {
      const window_axis& a = m_axes[d];
      const std::int64_t at = p % m_y[d + 2] * a.stride - a.before + tap % a.kernel * a.dilation;
      if (at < 0 || at >= m_x[d + 2]) return -1;
      column_scale /= m_x[d + 2];
      place += at * scale;
      column_place += at * column_scale;
      scale *= m_x[d + 2];
      p /= m_y[d + 2];
      tap /= a.kernel;
    }
    return m_column_major ? column_place : place;
  }

  /// Places of a tap at all positions. One in the padding, which is never above a pixel, is given as the window's first
  /// pixel: a window of nothing but -inf has its maximum there.
  int table_of(std::int64_t tap) {
    std::vector<std::int64_t> places;
    for (std::int64_t p = 0; p < m_positions; ++p) {
      std::int64_t place = place_of(p, tap);
      for (std::int64_t k = 0; place < 0 && k < m_taps; ++k) place = place_of(p, k);
      if (place < 0) m_c.refuse("a window is in the padding alone; make the pads smaller than the kernel");
      places.push_back(place);
    }
    shape_t shape = m_y;
    shape[0] = shape[1] = 1;
    return constant_integers(m_c, "places" + std::to_string(tap), shape, element::i32, places);
  }

  /// Indices count over the whole tensor: the planes before are added, as output 1.
  void add_planes(int place) {
    const std::int64_t plane = count_of({m_x.begin() + 2, m_x.end()});
    shape_t shape = m_y;
    for (std::size_t d = 2; d < shape.size(); ++d) shape[d] = 1;
    std::vector<std::int64_t> first;
    for (std::int64_t i = 0; i < m_x[0] * m_x[1]; ++i) first.push_back(i * plane);
    const int sum = m_c.temporary("places", m_y, element::i32);
    m_c.emit(arithmetic_params{arithmetic_kind::add},
             {place, constant_integers(m_c, "planes", shape, element::i32, first)}, sum);
    m_c.emit(cast_params{}, {sum}, m_c.out(1));
  }

  context& m_c;
  const shape_t m_x, m_y;
  bool m_column_major;
  std::int64_t m_taps = 1, m_positions = 1;
  std::vector<window_axis> m_axes;
};

}

void pool_with_indices(context& c) { indexed_pool(c).run(); }

void max_unpool(context& c) {
  const shape_t x = c.in_shape(0), y = c.out_shape();
  const std::size_t dims = x.size() - 2;
  const node& n = c.op();
  if (!is_computed_integer(c.in_type(1))) c.refuse("indices must be int32 or int64; add a Cast in the exporter");
  if (x.size() > 5) c.refuse("pooling has one, two or three spatial axes");
  const std::vector<std::int64_t> kernel = n.integers("kernel_shape"),
                                  strides = n.integers("strides", shape_t(dims, 1)),
                                  pads = n.integers("pads", shape_t(2 * dims, 0));
  shape_t inner = x;
  pad_parameters p;
  p.before.assign(x.size(), 0);
  p.after.assign(x.size(), 0);
  for (std::size_t d = 0; d < dims; ++d) {
    inner[d + 2] = (x[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[d + dims];
    p.after[d + 2] = y[d + 2] - inner[d + 2];
  }
  const element type = c.in_type(0);
  if (inner != y && type != element::f32) c.refuse("an output_shape that adds rows has a kernel for float32");
  const std::int64_t total = count_of(inner), count = count_of(x);
  const int zeros = c.temporary("zeros", {total}, type), written = c.temporary("written", {total}, type);
  c.emit(expand_parameters{}, {constant_integers(c, "zero", {1}, type, {0})}, zeros);
  c.emit(scatter_params{0, scatter_kind::replace},
         {zeros, reshaped(c, c.in(1), {count}), reshaped(c, c.in(0), {count})}, written);
  const int pixels = reshaped(c, written, inner);
  if (inner == y)
    c.emit(reshape_parameters{}, {pixels});
  else
    c.emit(std::move(p), {pixels});
}

}
