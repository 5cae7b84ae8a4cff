// SPDX-License-Identifier: MIT
#pragma once
/// Parts of a transposed convolution.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

struct integer_weights;
struct stored_product;

/// One spatial axis.
struct axis_of_transpose {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;
};

/// The taps of one phase by rising input position: tap i reads input q + first + i * step.
struct phase_taps {
  std::vector<std::int64_t> tap;
  std::int64_t first = 0, step = 1;
};

struct transposed_weights {
  std::vector<double> values;                                  ///< [C][O / groups][kernel_h][kernel_w]
  std::int64_t channels, outputs, groups, kernel_h, kernel_w;  ///< channels and outputs are per group

  double at(std::int64_t group, std::int64_t channel, std::int64_t output, std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>(
        (((group * channels + channel) * outputs + output) * kernel_h + y) * kernel_w + x)];
  }
};

/// So many phases are a convolution each, whose pixels are interleaved; more become channels.
inline constexpr std::int64_t max_written_phases = 16;

/// How the layers are written whose results a transposed convolution puts together.
struct phase_layers {
  element type = element::f32;  ///< of input and results
  bool exact = false;           ///< floats round as the source does
  /// A convolution of an input to a result. Its outputs are those of the transposed convolution, each as many times one
  /// behind the other as their number says.
  std::function<void(conv_parameters layer, int input, int result)> convolve;
  std::function<void(int result)> fill;  ///< pixels that no tap reaches, of as many channels
};

/// Images whose transposed convolution is to be written.
struct transposed_images {
  int input = no_value;  ///< [N, C, H, W], or [N, C, W]
  axis_of_transpose axis[2] = {};
  transposed_weights weights;
  std::vector<double> bias;
  int result = no_value;
  std::string name;     ///< of its values, with the node's
  phase_layers layers;  ///< of floats unless they are others
};

/// The spatial axes of the node, whose weights are input `weights`.
std::vector<axis_of_transpose> axes_of_transposition(const context& c, std::size_t weights);
/// Makes the node's output, bytes, of its input 0 and weights [C][O / groups][kernel] at input 3, which `w` has as
/// [O][C / groups][taps]. Returns false, and adds nothing, where kernels cannot.
bool emit_stored_transposition(context& c, const integer_weights& w, const stored_product& p);
/// Makes `result`, exact sums in floats, of floats `input` and the same weights.
void emit_exact_transposition(context& c, const integer_weights& w, int input, int result);

/// Returns the taps of a phase of an axis.
phase_taps taps_of(const axis_of_transpose& a, std::int64_t phase);
/// A node whose output is put together of the phases of its strides.
class transposed_node {
 protected:
  transposed_node(context& c, const std::vector<axis_of_transpose>& axes);
  /// How long a phase of an axis is.
  std::int64_t length(std::size_t d) const { return (m_axes[d].output + m_axes[d].stride - 1) / m_axes[d].stride; }
  /// The input with zeros where taps of the first `count` axes read outside; m_before: how many there are in front.
  int padded(std::size_t count);

  context& m_c;
  const std::vector<axis_of_transpose>& m_axes;
  const shape_t m_x, m_y;
  const std::int64_t m_groups, m_channels, m_outputs;  ///< channels and outputs are per group
  std::vector<std::int64_t> m_before{};
};

/// Writes the transposed convolution of images.
void write_transposition(context& c, transposed_images i);
/// Writes the node, which has three spatial axes, to `result`; a computed bias is left out.
void transpose_volume(context& c, const std::vector<axis_of_transpose>& axes, int result);
/// Writes the node to `result` where its weights are computed, for one to three spatial axes; any bias is left out.
void transpose_by_computed_weights(context& c, const std::vector<axis_of_transpose>& axes, int result);

}
