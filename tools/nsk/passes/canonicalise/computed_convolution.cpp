// SPDX-License-Identifier: MIT
/// Convolution by weights that are computed. Each tap of the kernel is a strided slice of the padded input. Slices side
/// by side are a matrix of patches, which is multiplied with the weights; where every channel has its own kernel, they
/// are multiplied and added one after the other.
#include <algorithm>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/windows.hpp"

namespace nsk::tool::canonical {
namespace {

/// Taps of a kernel that are a slice each, which is a step of the plan; those of larger kernels are gathered by a
/// table.
constexpr std::int64_t max_slices = 32;

/// Weights [groups, outputs, channels, taps] as [groups, taps, channels, outputs].
std::vector<double> columns_of(const std::vector<double>& weights, const shape_t& from) {
  std::vector<double> columns;
  columns.reserve(weights.size());
  for (std::int64_t g = 0; g < from[0]; ++g)
    for (std::int64_t k = 0; k < from[3]; ++k)
      for (std::int64_t i = 0; i < from[2]; ++i)
        for (std::int64_t o = 0; o < from[1]; ++o)
          columns.push_back(weights[static_cast<std::size_t>(((g * from[1] + o) * from[2] + i) * from[3] + k)]);
  return columns;
}

/// Rows [N, groups, positions, taps * channels] times the weights, as [N, groups, outputs, positions].
int rows_times_weights(context& c, int rows) {
  const shape_t from = c.shape(rows), w = c.in_shape(1);
  const std::int64_t groups = from[1], outputs = w[0] / groups, taps = from[3] / w[1];
  const shape_t split = {groups, outputs, w[1], taps}, columns_shape = {1, groups, from[3], outputs};
  const int columns =
      c.input(1).constant
          ? constant(c, "columns", columns_shape, columns_of(canonical::weights(c, 1, "the weights"), split))
          : reshaped(c, transposed(c, reshaped(c, c.in(1), split), {0, 3, 2, 1}, "kernels"), columns_shape);
  const int product = c.temporary("product", {from[0], groups, from[2], outputs});
  c.emit(mat_mul_params{}, {rows, columns}, product);
  return transposed(c, product, {0, 1, 3, 2}, "images");
}

/// Patches [N, positions, taps, C] times constant weights of one group, which are packed in the file; as
/// [N, 1, outputs, positions].
int patches_times_constants(context& c, int patches) {
  const shape_t from = c.shape(patches), w = c.in_shape(1);
  dense_parameters d;
  d.depth = static_cast<int>(from[2] * from[3]);
  d.outputs = static_cast<int>(w[0]);
  d.weights = columns_of(canonical::weights(c, 1, "the weights"), {1, w[0], from[3], from[2]});
  d.bias.assign(static_cast<std::size_t>(w[0]), 0.0);
  const int product = c.temporary("product", {from[0], from[1], w[0]});
  c.emit(std::move(d), {reshaped(c, patches, {from[0], from[1], from[2] * from[3]})}, product);
  return reshaped(c, transposed(c, product, {0, 2, 1}, "images"), {from[0], 1, w[0], from[1]});
}

class computed_convolution {
 public:
  explicit computed_convolution(context& c)
      : m_c(c), m_x(c.in_shape(0)), m_w(c.in_shape(1)), m_y(c.out_shape()), m_groups(c.op().integer("group", 1)) {
    if (m_w.size() != m_x.size() || m_groups < 1 || m_x[1] != m_w[1] * m_groups || m_w[0] % m_groups != 0)
      c.refuse("channels, groups and weights disagree");
    m_axes = window_axes(c, c.op(), m_x, {m_w.begin() + 2, m_w.end()}, m_y);
    m_taps = count_of({m_w.begin() + 2, m_w.end()});
  }

  void run() {
    if (m_c.has(2) && count_of(m_c.in_shape(2)) != m_w[0]) m_c.refuse("the bias has not one value per output channel");
    const int input = padded_for_taps(m_c, m_axes, m_y, 0), unbiased = result_before_bias(m_c, m_c.has(2));
    const bool one_channel = m_w[1] == 1 && m_groups == m_w[0];
    if (m_taps > max_slices && one_channel)
      by_sum(gathered(input), unbiased);
    else if (m_taps > max_slices)
      m_c.emit(reshape_parameters{}, {patches_times_weights(m_c, gathered(input), m_groups)}, unbiased);
    else if (one_channel)
      by_channel(input, unbiased);
    else
      m_c.emit(reshape_parameters{}, {rows_times_weights(m_c, rows_of_slices(input))}, unbiased);
    add_bias_behind(m_c, unbiased);
  }

 private:
  std::size_t dims() const { return m_axes.size(); }
  std::int64_t positions() const { return count_of({m_y.begin() + 2, m_y.end()}); }

  /// The sum over taps of slice times weight, for one channel in and one out per group.
  void by_channel(int input, int target) {
    const int weights = reshaped(m_c, m_c.in(1), {1, m_w[0], m_taps});
    shape_t per_channel(m_x.size(), 1);
    per_channel[1] = m_w[0];
    int sum = no_value;
    for (std::int64_t k = 0; k < m_taps; ++k) {
      const std::string tap = std::to_string(k);
      const int weight = reshaped(m_c, part(m_c, weights, 2, k, 1, "weight" + tap), per_channel),
                product =
                    combine(m_c, binary_kind::mul, slice_of_tap(m_c, m_axes, input, m_y, k), weight, "product" + tap);
      sum = sum == no_value ? product : combine(m_c, binary_kind::add, product, sum, "sum" + tap);
    }
    m_c.emit(reshape_parameters{}, {sum}, target);
  }

  /// What all taps of all windows read, [N, positions, taps, C].
  int gathered(int input) {
    const shape_t from = m_c.shape(input);
    m_c.charge(static_cast<double>(positions()) * static_cast<double>(m_taps));
    std::vector<std::int64_t> index;
    for (std::int64_t p = 0; p < positions(); ++p)
      for (std::int64_t k = 0; k < m_taps; ++k) {
        std::int64_t at = 0, scale = 1, position = p, tap = k;
        for (std::size_t d = dims(); d-- > 0; scale *= from[d + 2]) {
          const window_axis& a = m_axes[d];
          at += (position % m_y[d + 2] * a.stride + tap % a.kernel * a.dilation) * scale;
          position /= m_y[d + 2];
          tap /= a.kernel;
        }
        index.push_back(at);
      }
    std::vector<int> channels_last = {0};
    for (std::size_t d = 0; d < dims(); ++d) channels_last.push_back(static_cast<int>(d) + 2);
    channels_last.push_back(1);
    const int rows = reshaped(m_c, transposed(m_c, input, channels_last, "pixels"),
                              {m_x[0], count_of({from.begin() + 2, from.end()}), m_x[1]}),
              table = constant_integers(m_c, "places", {positions() * m_taps}, element::i32, index),
              patches = m_c.temporary("patches", {m_x[0], positions() * m_taps, m_x[1]});
    m_c.emit(gather_parameters{1, false}, {rows, table}, patches);
    return reshaped(m_c, patches, {m_x[0], positions(), m_taps, m_x[1]});
  }

  /// Patches [N, positions, taps, C] times weights [taps, C], added up.
  void by_sum(int patches, int target) {
    const int weights = transposed(m_c, reshaped(m_c, m_c.in(1), {m_w[0], m_taps}), {1, 0}, "columns"),
              products = combine(m_c, binary_kind::mul, patches, weights, "products"),
              sums =
                  reshaped(m_c, reduced(m_c, reduce_kind::sum, products, {2}, "sums"), {m_x[0], positions(), m_x[1]});
    m_c.emit(reshape_parameters{}, {transposed(m_c, sums, {0, 2, 1}, "images")}, target);
  }

  int rows_of_slices(int input) {
    const std::int64_t channels = m_w[1], depth = m_taps * channels;
    shape_t split = {m_x[0], m_groups, channels};
    split.insert(split.end(), m_y.begin() + 2, m_y.end());
    std::vector<int> parts;
    for (std::int64_t k = 0; k < m_taps; ++k)
      parts.push_back(reshaped(m_c, slice_of_tap(m_c, m_axes, input, m_y, k), split));
    int patches = parts[0];
    if (parts.size() > 1) {
      split[2] = depth;
      patches = m_c.temporary("patches", split);
      m_c.emit(concat_parameters{2}, parts, patches);
    }
    patches = reshaped(m_c, patches, {m_x[0], m_groups, depth, positions()});
    return transposed(m_c, patches, {0, 1, 3, 2}, "rows");
  }

  context& m_c;
  const shape_t m_x, m_w, m_y;
  std::int64_t m_groups = 1, m_taps = 1;
  std::vector<window_axis> m_axes;
};

}

int patches_times_weights(context& c, int patches, std::int64_t groups) {
  if (groups == 1 && c.input(1).constant) return patches_times_constants(c, patches);
  const shape_t from = c.shape(patches);
  const std::int64_t channels = from[3] / groups;
  const int split = reshaped(c, patches, {from[0], from[1], from[2], groups, channels});
  return rows_times_weights(
      c, reshaped(c, transposed(c, split, {0, 3, 1, 2, 4}, "rows"), {from[0], groups, from[1], from[2] * channels}));
}

void convolve_by_computed_weights(context& c) { computed_convolution(c).run(); }

}
