// SPDX-License-Identifier: MIT
/// Transposed convolution by weights that are computed. Each phase of the strides (rules_conv_transpose.cpp) is a
/// product of matrices: what its taps read of the padded input, side by side, times their weights. The phases are
/// interleaved axis by axis.
#include <algorithm>
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/transposition.hpp"

namespace nsk::tool::canonical {
namespace {

class computed_transposition : transposed_node {
 public:
  computed_transposition(context& c, const std::vector<axis_of_transpose>& axes) : transposed_node(c, axes) {
    for (const axis_of_transpose& a : m_axes) m_taps *= a.kernel;
    m_phases.resize(m_axes.size());
  }

  /// Makes `target`, without the bias.
  void run(int target) {
    if (m_taps > max_taps) m_c.refuse("its weights are computed, and its kernel has more than 4096 taps");
    m_input = padded(m_axes.size());
    const shape_t by_channel = {m_groups, m_channels, m_outputs, m_taps};
    m_weights = transposed(m_c, reshaped(m_c, m_c.in(1), by_channel), {0, 3, 1, 2}, "kernels");
    int all = interleaved(0);
    for (std::size_t d = 0; d < m_axes.size(); ++d) all = part(m_c, all, d + 2, 0, m_y[d + 2], "cut" + number());
    m_c.emit(reshape_parameters{}, {all}, target);
  }

 private:
  static constexpr std::int64_t max_taps = 4096;  // of a kernel: each is a step of the plan

  std::string number() const { return std::to_string(m_c.made().values.size()); }

  /// The phases of axis d and of those behind it, side by side, for the phases of the axes before that are chosen.
  int interleaved(std::size_t d) {
    if (d == m_axes.size()) return phase();
    std::vector<int> parts;
    for (std::int64_t r = 0; r < m_axes[d].stride; ++r) {
      m_phases[d] = taps_of(m_axes[d], r);
      const int made = interleaved(d + 1);
      shape_t split = m_c.shape(made);
      split.insert(split.begin() + static_cast<std::ptrdiff_t>(d) + 3, 1);
      parts.push_back(reshaped(m_c, made, split));
    }
    shape_t shape = m_c.shape(parts[0]);
    int all = parts[0];
    if (parts.size() > 1) {
      shape[d + 3] = m_axes[d].stride;
      all = m_c.temporary("phases" + number(), shape);
      m_c.emit(concat_parameters{static_cast<int>(d) + 3}, parts, all);
    }
    shape[d + 2] *= shape[d + 3];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d) + 3);
    return reshaped(m_c, all, shape);
  }

  /// One phase of every axis, [N, O, the lengths].
  int phase() {
    shape_t shape = {m_x[0], m_y[1]};
    for (std::size_t d = 0; d < m_axes.size(); ++d) shape.push_back(length(d));
    const auto is_empty = [](const phase_taps& t) { return t.tap.empty(); };
    if (std::any_of(m_phases.begin(), m_phases.end(), is_empty)) {
      const int zeros = m_c.temporary("zeros" + number(), shape);
      m_c.emit(expand_parameters{}, {constant(m_c, "zero" + number(), shape_t(shape.size(), 1), {0})}, zeros);
      return zeros;
    }
    std::vector<std::int64_t> taps;
    const int rows = rows_of_taps(taps), columns = weights_of(taps);
    const shape_t from = m_c.shape(rows);
    const int product = m_c.temporary("product" + number(), {from[0], m_groups, from[2], m_outputs});
    m_c.emit(mat_mul_params{}, {rows, columns}, product);
    return reshaped(m_c, transposed(m_c, product, {0, 1, 3, 2}, "images" + number()), shape);
  }

  /// What the taps of the phase read, [N, groups, positions, taps * channels]; `taps` gets their places in the kernel.
  int rows_of_taps(std::vector<std::int64_t>& taps) {
    shape_t split = {m_x[0], m_groups, m_channels};
    std::int64_t positions = 1, count = 1;
    for (std::size_t d = 0; d < m_axes.size(); ++d) {
      split.push_back(length(d));
      positions *= length(d);
      count *= static_cast<std::int64_t>(m_phases[d].tap.size());
    }
    std::vector<int> slices;
    for (std::int64_t i = 0; i < count; ++i) {
      int slice = m_input;
      std::int64_t rest = i, tap = 0, scale = 1;
      for (std::size_t d = m_axes.size(); d-- > 0; scale *= m_axes[d].kernel) {
        const phase_taps& t = m_phases[d];
        const auto own = static_cast<std::int64_t>(t.tap.size()), at = rest % own;
        slice = part(m_c, slice, d + 2, m_before[d] + t.first + at * t.step, length(d), "tap" + number());
        tap += t.tap[static_cast<std::size_t>(at)] * scale;
        rest /= own;
      }
      slices.push_back(reshaped(m_c, slice, split));
      taps.push_back(tap);
    }
    int patches = slices[0];
    if (count > 1) {
      split[2] *= count;
      patches = m_c.temporary("patches" + number(), split);
      m_c.emit(concat_parameters{2}, slices, patches);
    }
    patches = reshaped(m_c, patches, {m_x[0], m_groups, m_channels * count, positions});
    return transposed(m_c, patches, {0, 1, 3, 2}, "rows" + number());
  }

  /// Weights [1, groups, taps * channels, outputs] of some taps.
  int weights_of(const std::vector<std::int64_t>& taps) {
    const auto count = static_cast<std::int64_t>(taps.size());
    const int table = constant_integers(m_c, "taps" + number(), {count}, element::i32, taps),
              chosen = m_c.temporary("weights" + number(), {m_groups, count, m_channels, m_outputs});
    m_c.emit(gather_parameters{1, false}, {m_weights, table}, chosen);
    return reshaped(m_c, chosen, {1, m_groups, count * m_channels, m_outputs});
  }

  std::int64_t m_taps = 1;
  std::vector<phase_taps> m_phases;  ///< that are chosen, by axis
  int m_input = no_value, m_weights = no_value;
};

}

void transpose_by_computed_weights(context& c, const std::vector<axis_of_transpose>& axes, int result) {
  computed_transposition(c, axes).run(result);
}

}
