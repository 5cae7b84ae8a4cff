// SPDX-License-Identifier: MIT
/// Transposed convolution as plain convolutions. Along one axis, output o = stride * q + r of phase r is the sum over
/// the taps k whose r + pad - k * dilation is a multiple of the stride, of weight k times input q + (r + pad - k *
/// dilation) / stride: a convolution with stride 1. Few phases are convolutions that write every stride-th pixel; many
/// are one convolution whose channels become pixels.
#include <algorithm>
#include <limits>
#include <numeric>
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"
#include "passes/canonicalise/transposition.hpp"
#include "passes/canonicalise/windows.hpp"

namespace nsk::tool::canonical {

phase_taps taps_of(const axis_of_transpose& a, std::int64_t phase) {
  phase_taps t;
  for (std::int64_t k = a.kernel; k-- > 0;)
    if ((phase + a.pad - k * a.dilation) % a.stride == 0) t.tap.push_back(k);
  if (t.tap.empty()) return t;
  t.first = (phase + a.pad - t.tap.front() * a.dilation) / a.stride;
  t.step = a.dilation / std::gcd(a.dilation, a.stride);
  return t;
}

namespace {

constexpr std::int64_t max_phases = 16;

/// Weights [O][C / groups][taps] of a phase's convolution.
std::vector<double> phase_weights(const transposed_weights& w, const phase_taps& rows, const phase_taps& columns) {
  std::vector<double> result;
  for (std::int64_t g = 0; g < w.groups; ++g)
    for (std::int64_t o = 0; o < w.outputs; ++o)
      for (std::int64_t c = 0; c < w.channels; ++c)
        for (std::int64_t y : rows.tap)
          for (std::int64_t x : columns.tap) result.push_back(w.at(g, c, o, y, x));
  return result;
}

/// One transposed convolution of images: its numbers, and the two ways to write it.
class transposition {
 public:
  transposition(context& c, transposed_images i)
      : m_c(c),
        m_input(i.input),
        m_x(c.shape(i.input)),
        m_out(c.shape(i.result)),
        m_dims(m_x.size() - 2),
        m_axis{i.axis[0], i.axis[1]},
        m_weights(std::move(i.weights)),
        m_bias(std::move(i.bias)),
        m_result(i.result),
        m_name(std::move(i.name)) {
    for (int d = 0; d < 2; ++d) m_length[d] = (m_axis[d].output + m_axis[d].stride - 1) / m_axis[d].stride;
    m_whole = spatial_shape(m_out[1], m_length[0] * m_axis[0].stride, m_length[1] * m_axis[1].stride);
    m_uncut = m_whole == m_out ? m_result : c.temporary(m_name + "uncut", m_whole);
  }

  void write() {
    if (phases() <= max_phases)
      by_phases();
    else
      by_channels();
  }

 private:
  std::int64_t phases() const { return m_axis[0].stride * m_axis[1].stride; }

  /// A convolution per phase; an interleaving puts their pixels together.
  void by_phases() {
    std::vector<int> parts;
    for (std::int64_t r = 0; r < m_axis[0].stride; ++r)
      for (std::int64_t s = 0; s < m_axis[1].stride; ++s) {
        const std::string number = std::to_string(parts.size());
        parts.push_back(phases() == 1 ? m_uncut
                                      : m_c.temporary(m_name + "phase" + number,
                                                      spatial_shape(m_out[1], m_length[0], m_length[1])));
        emit_phase(taps_of(m_axis[0], r), taps_of(m_axis[1], s), parts.back());
      }
    if (phases() > 1)
      m_c.emit(interleave_parameters{static_cast<int>(m_axis[0].stride), static_cast<int>(m_axis[1].stride)}, parts,
               m_uncut);
    cut();
  }

  /// One convolution whose window holds the taps of every phase and whose channels are (output, row phase, column
  /// phase); they become pixels.
  void by_channels() {
    m_c.charge(static_cast<double>(phases()) * static_cast<double>(m_out[1] + m_axis[0].kernel + m_axis[1].kernel));
    const reach_of_taps rows = reach_of(m_axis[0]), columns = reach_of(m_axis[1]);
    conv_parameters c;
    c.w.kernel_h = static_cast<int>(rows.last - rows.first + 1);
    c.w.kernel_w = static_cast<int>(columns.last - columns.first + 1);
    c.groups = static_cast<int>(m_weights.groups);
    c.outputs = static_cast<int>(m_out[1] * phases());
    c.weights = channel_weights(rows, columns);
    for (std::int64_t i = 0; i < m_out[1] * phases(); ++i)
      c.bias.push_back(m_bias[static_cast<std::size_t>(i / phases())]);
    const std::int64_t sh = m_axis[0].stride, sw = m_axis[1].stride, height = m_length[0], width = m_length[1];
    const int product = m_c.temporary(m_name + "phases", spatial_shape(m_out[1] * phases(), height, width));
    convolve(std::move(c), rows.first, columns.first, product);
    const int split = reshaped(m_c, product, {m_x[0], m_out[1], sh, sw, height, width}),
              pixels = transposed(m_c, split, {0, 1, 4, 2, 5, 3}, "turned");
    m_c.emit(reshape_parameters{true}, {pixels}, m_uncut);
    cut();
  }

  /// Input positions, relative to the output's, that any phase reads.
  struct reach_of_taps {
    std::int64_t first, last;
  };

  shape_t spatial_shape(std::int64_t channels, std::int64_t height, std::int64_t width) const {
    return m_dims == 2 ? shape_t{m_x[0], channels, height, width} : shape_t{m_x[0], channels, width};
  }

  /// Phases have as many rows and columns as the longest one; what is too much is cut off.
  void cut() {
    if (m_whole != m_out) m_c.emit(whole_slice(m_x.size()), {m_uncut}, m_result);
  }

  /// Pixels that no tap reaches.
  void emit_bias(const std::vector<double>& bias, int result) {
    shape_t column(m_x.size(), 1);
    column[1] = static_cast<std::int64_t>(bias.size());
    const std::string name = "bias" + std::to_string(m_c.made().values.size());
    m_c.emit(expand_parameters{}, {constant(m_c, name, column, bias)}, result);
  }

  void emit_phase(const phase_taps& rows, const phase_taps& columns, int part) {
    if (rows.tap.empty() || columns.tap.empty()) return emit_bias(m_bias, part);
    conv_parameters c;
    c.w.kernel_h = static_cast<int>(rows.tap.size());
    c.w.kernel_w = static_cast<int>(columns.tap.size());
    c.w.dilation_h = static_cast<int>(rows.step);
    c.w.dilation_w = static_cast<int>(columns.step);
    c.groups = static_cast<int>(m_weights.groups);
    c.outputs = static_cast<int>(m_out[1]);
    c.weights = phase_weights(m_weights, rows, columns);
    c.bias = m_bias;
    convolve(std::move(c), rows.first, columns.first, part);
  }

  /// conv(input) to `result`, the first tap at (first_row, first_column); the input is cropped where that is inside
  /// it.
  void convolve(conv_parameters c, std::int64_t first_row, std::int64_t first_column, int result) {
    const std::int64_t top = std::max<std::int64_t>(0, -first_row), left = std::max<std::int64_t>(0, -first_column);
    const std::int64_t skip_rows = std::max<std::int64_t>(0, first_row),
                       skip_columns = std::max<std::int64_t>(0, first_column);
    if (top > 65535 || left > 65535 || c.w.kernel_h > 65535 || c.w.kernel_w > 65535)
      m_c.refuse("a kernel or pad is above 65535");
    c.w.pad_top = static_cast<int>(top);
    c.w.pad_left = static_cast<int>(left);
    int input = m_input;
    if (skip_rows > 0 || skip_columns > 0) {
      if (skip_rows >= m_axis[0].input || skip_columns >= m_axis[1].input) return emit_bias(c.bias, result);
      slice_parameters s = whole_slice(m_x.size());
      s.starts.back() = skip_columns;
      if (m_dims == 2) s.starts[2] = skip_rows;
      const int part =
          m_c.temporary("crop" + std::to_string(m_c.made().values.size()),
                        spatial_shape(m_x[1], m_axis[0].input - skip_rows, m_axis[1].input - skip_columns));
      m_c.emit(std::move(s), {input}, part);
      input = part;
    }
    m_c.emit(std::move(c), {input}, result);
  }

  static reach_of_taps reach_of(const axis_of_transpose& a) {
    reach_of_taps r{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    for (std::int64_t phase = 0; phase < a.stride; ++phase) {
      const phase_taps t = taps_of(a, phase);
      if (t.tap.empty()) continue;
      r.first = std::min(r.first, t.first);
      r.last = std::max(r.last, t.first + (static_cast<std::int64_t>(t.tap.size()) - 1) * t.step);
    }
    return r;
  }

  /// Weights of by_channels: zeros where a phase has no tap.
  std::vector<double> channel_weights(const reach_of_taps& rows, const reach_of_taps& columns) const {
    const std::int64_t kh = rows.last - rows.first + 1, kw = columns.last - columns.first + 1,
                       depth = m_weights.channels;
    m_c.charge(static_cast<double>(m_out[1] * phases()) * static_cast<double>(depth * kh * kw));
    std::vector<double> weights(static_cast<std::size_t>(m_out[1] * phases() * depth * kh * kw), 0.0);
    for (std::int64_t phase = 0; phase < phases(); ++phase) {
      const phase_taps y = taps_of(m_axis[0], phase / m_axis[1].stride),
                       x = taps_of(m_axis[1], phase % m_axis[1].stride);
      for (std::int64_t o = 0; o < m_out[1]; ++o)
        for (std::int64_t i = 0; i < depth; ++i)
          for (std::size_t a = 0; a < y.tap.size(); ++a)
            for (std::size_t b = 0; b < x.tap.size(); ++b) {
              const std::int64_t row = y.first - rows.first + static_cast<std::int64_t>(a) * y.step,
                                 column = x.first - columns.first + static_cast<std::int64_t>(b) * x.step;
              weights[static_cast<std::size_t>((((o * phases() + phase) * depth + i) * kh + row) * kw + column)] =
                  m_weights.at(o / m_weights.outputs, i, o % m_weights.outputs, y.tap[a], x.tap[b]);
            }
    }
    return weights;
  }

  context& m_c;
  int m_input;
  shape_t m_x, m_out, m_whole;
  std::size_t m_dims;
  axis_of_transpose m_axis[2];    ///< rows, columns
  std::int64_t m_length[2] = {};  ///< of a phase
  transposed_weights m_weights;
  std::vector<double> m_bias;
  int m_result, m_uncut = no_value;  ///< m_uncut: the phases' pixels together
  std::string m_name;
};

/// The spatial axes of a node.
std::vector<axis_of_transpose> read_axes(const context& c) {
  const shape_t &x = c.in_shape(0), &w = c.in_shape(1), &y = c.out_shape();
  const node& n = c.op();
  const std::size_t dims = x.size() - 2;
  const std::vector<std::int64_t> ones(dims, 1), zeros(dims, 0), no_pads(2 * dims, 0);
  const std::vector<std::int64_t> strides = n.integers("strides", ones), dilations = n.integers("dilations", ones);
  const std::vector<std::int64_t> pads = n.integers("pads", no_pads), extra = n.integers("output_padding", zeros);
  const std::string auto_pad = n.text("auto_pad", "NOTSET");
  const bool chosen = !n.integers("output_shape").empty() || auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  std::vector<axis_of_transpose> axes;
  for (std::size_t d = 0; d < dims; ++d) {
    axis_of_transpose a = {x[d + 2], y[d + 2], w[d + 2], strides[d], dilations[d], auto_pad == "VALID" ? 0 : pads[d]};
    if (a.kernel < 1 || a.stride < 1 || a.dilation < 1) c.refuse("a kernel, stride or dilation is not positive");
    if (chosen) {
      const std::int64_t total =
          std::max<std::int64_t>(0, (a.input - 1) * a.stride + extra[d] + (a.kernel - 1) * a.dilation + 1 - a.output);
      a.pad = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    axes.push_back(a);
  }
  return axes;
}

}

void write_transposition(context& c, transposed_images i) { transposition(c, std::move(i)).write(); }

namespace {

void conv_transpose(context& c) {
  const std::size_t rank = c.in_shape(0).size();
  if (rank < 3 || rank > 5) c.refuse("transposed convolution has one, two or three spatial axes");
  const std::vector<axis_of_transpose> axes = read_axes(c);
  const int unbiased = result_before_bias(c, bias_is_computed(c));
  if (rank == 5) {
    transpose_volume(c, axes, unbiased);
  } else {
    const shape_t x = c.in_shape(0), w = c.in_shape(1);
    transposed_images i;
    i.input = c.in(0);
    if (rank == 4) i.axis[0] = axes[0];
    i.axis[1] = axes.back();
    const std::int64_t groups = c.op().integer("group", 1);
    i.weights = {weights(c, 1, "the weights"), x[1] / groups, w[1], groups, i.axis[0].kernel, i.axis[1].kernel};
    i.bias = bias_in_kernel(c, c.out_shape()[1]);
    i.result = unbiased;
    write_transposition(c, std::move(i));
  }
  add_bias_behind(c, unbiased);
}

}

void add_conv_transpose(rule_table& t) { t["ConvTranspose"] = {conv_transpose}; }

}
