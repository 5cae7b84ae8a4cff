// SPDX-License-Identifier: MIT
/// Transposed convolution over three spatial axes.
#include <algorithm>
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/transposition.hpp"
#include "passes/canonicalise/windows.hpp"

namespace nsk::tool::canonical {
namespace {

/// Three spatial axes: each phase of the depth's stride is a transposed convolution of images whose channels are those
/// of all slices that its taps read.
class volume_transposition : transposed_node {
 public:
  volume_transposition(context& c, const std::vector<axis_of_transpose>& axes)
      : transposed_node(c, axes),
        m_weights(weights(c, 1, "the weights")),
        m_bias(bias_in_kernel(c, m_y[1])),
        m_length(length(0)) {}

  void run(int target) {
    const axis_of_transpose& deep = m_axes[0];
    if (deep.kernel > max_depth || deep.stride > max_depth)
      m_c.refuse("its kernel or stride is more than " + std::to_string(max_depth) +
                 " deep. Transpose the model so that another axis is the first");
    std::vector<phase_taps> taps;
    for (std::int64_t r = 0; r < deep.stride; ++r) taps.push_back(taps_of(deep, r));
    const int volume = transposed(m_c, padded(1), {0, 2, 1, 3, 4}, "images");
    std::vector<int> parts;
    for (std::size_t r = 0; r < taps.size(); ++r)
      parts.push_back(
          reshaped(m_c, phase(volume, taps[r], std::to_string(r)), {m_x[0], m_length, 1, m_y[1], m_y[3] * m_y[4]}));
    int all = parts[0];
    if (parts.size() > 1) {
      all = m_c.temporary("depths", {m_x[0], m_length, deep.stride, m_y[1], m_y[3] * m_y[4]});
      m_c.emit(concat_parameters{2}, parts, all);
    }
    all = reshaped(m_c, all, {m_x[0], m_length * deep.stride, m_y[1], m_y[3], m_y[4]});
    all = transposed(m_c, part(m_c, all, 1, 0, m_y[2], "cut"), {0, 2, 1, 3, 4}, "volume");
    m_c.emit(reshape_parameters{}, {all}, target);
  }

 private:
  static constexpr std::int64_t max_depth = 256;

  /// Images [N * length, C * taps, H, W] that the taps of a phase read, channels by group, tap and channel.
  int slices(int volume, const phase_taps& taps, const std::string& name) {
    const auto count = static_cast<std::int64_t>(taps.tap.size());
    std::vector<int> parts;
    for (std::int64_t i = 0; i < count; ++i) {
      const int slice = part(m_c, volume, 1, m_before[0] + taps.first + i * taps.step, m_length,
                             "slice" + name + "_" + std::to_string(i));
      parts.push_back(reshaped(m_c, slice, {m_x[0] * m_length, m_groups, m_channels, m_x[3], m_x[4]}));
    }
    int all = parts[0];
    if (count > 1) {
      all = m_c.temporary("slices" + name, {m_x[0] * m_length, m_groups, count * m_channels, m_x[3], m_x[4]});
      m_c.emit(concat_parameters{2}, parts, all);
    }
    return reshaped(m_c, all, {m_x[0] * m_length, m_x[1] * count, m_x[3], m_x[4]});
  }

  /// Weights [groups][taps][channels][outputs][kernel_h][kernel_w] of a phase.
  transposed_weights phase_weights_of(const phase_taps& taps) const {
    transposed_weights w = {{},
                            m_channels * static_cast<std::int64_t>(taps.tap.size()),
                            m_outputs,
                            m_groups,
                            m_axes[1].kernel,
                            m_axes[2].kernel};
    const std::int64_t plane = w.kernel_h * w.kernel_w;
    for (std::int64_t g = 0; g < m_groups; ++g)
      for (const std::int64_t tap : taps.tap)
        for (std::int64_t c = 0; c < m_channels; ++c)
          for (std::int64_t o = 0; o < m_outputs; ++o) {
            const std::int64_t at = (((g * m_channels + c) * m_outputs + o) * m_axes[0].kernel + tap) * plane;
            w.values.insert(w.values.end(), m_weights.begin() + at, m_weights.begin() + at + plane);
          }
    return w;
  }

  /// Output positions r, r + stride, ... of the depth, as images [N * length, O, H, W].
  int phase(int volume, const phase_taps& taps, const std::string& name) {
    const shape_t shape = {m_x[0] * m_length, m_y[1], m_y[3], m_y[4]};
    const int result = m_c.temporary("depth" + name, shape);
    if (taps.tap.empty()) {
      m_c.emit(expand_parameters{}, {constant(m_c, "bias_of_depth" + name, {1, m_y[1], 1, 1}, m_bias)}, result);
      return result;
    }
    transposed_images i;
    i.input = slices(volume, taps, name);
    i.axis[0] = m_axes[1];
    i.axis[1] = m_axes[2];
    i.weights = phase_weights_of(taps);
    i.bias = m_bias;
    i.result = result;
    i.name = "depth" + name + "_";
    write_transposition(m_c, std::move(i));
    return result;
  }

  std::vector<double> m_weights, m_bias;
  std::int64_t m_length;  ///< depth of a phase
};

}

void transpose_volume(context& c, const std::vector<axis_of_transpose>& axes, int result) {
  volume_transposition(c, axes).run(result);
}

}
