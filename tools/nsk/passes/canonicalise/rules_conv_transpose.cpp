// SPDX-License-Identifier: MIT
/// Transposed convolution as plain convolutions. Along one axis, output o = stride * q + r of phase r is the sum over
/// the taps k whose r + pad - k * dilation is a multiple of the stride, of weight k times input q + (r + pad - k *
/// dilation) / stride: a convolution with stride 1. Few phases are convolutions that write every stride-th pixel; of
/// many, and of those with few outputs, the phases that read the same input positions are one convolution whose
/// channels become pixels.
#include <algorithm>
#include <numeric>
#include <netsuke/format/packing.hpp>
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

transposed_node::transposed_node(context& c, const std::vector<axis_of_transpose>& axes)
    : m_c(c),
      m_axes(axes),
      m_x(c.in_shape(0)),
      m_y(c.out_shape()),
      m_groups(c.op().integer("group", 1)),
      m_channels(m_x[1] / m_groups),
      m_outputs(c.in_shape(1)[1]) {}

int transposed_node::padded(std::size_t count) {
  pad_parameters p;
  p.before.assign(m_x.size(), 0);
  p.after.assign(m_x.size(), 0);
  shape_t shape = m_x;
  for (std::size_t d = 0; d < count; ++d) {
    std::int64_t before = 0, after = 0;
    for (std::int64_t r = 0; r < m_axes[d].stride; ++r) {
      const phase_taps t = taps_of(m_axes[d], r);
      if (t.tap.empty()) continue;
      before = std::max(before, -t.first);
      after =
          std::max(after, t.first + (static_cast<std::int64_t>(t.tap.size()) - 1) * t.step + length(d) - m_x[d + 2]);
    }
    m_before.push_back(before);
    p.before[d + 2] = before;
    p.after[d + 2] = after;
    shape[d + 2] += before + after;
  }
  if (shape == m_x) return m_c.in(0);
  const int result = m_c.temporary("padded", shape);
  m_c.emit(std::move(p), {m_c.in(0)}, result);
  return result;
}

namespace {

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
        m_axis{i.axis[0], i.axis[1]},
        m_weights(std::move(i.weights)),
        m_bias(std::move(i.bias)),
        m_result(i.result),
        m_name(std::move(i.name)),
        m_layers(std::move(i.layers)) {
    m_is_float = !m_layers.convolve;
    if (m_is_float) write_floats();
    for (int d = 0; d < 2; ++d) m_length[d] = (m_axis[d].output + m_axis[d].stride - 1) / m_axis[d].stride;
    m_whole = spatial_shape(m_out[1], m_length[0] * m_axis[0].stride, m_length[1] * m_axis[1].stride);
    m_uncut = m_whole == m_out ? m_result : c.temporary(m_name + "uncut", m_whole, m_layers.type);
  }

  /// Of floats with few outputs, phases that read the same positions are one convolution if all outputs of them are at
  /// most half as many columns of panels: masks and other single channels, doubled by 2x2 windows.
  void write() {
    const bool few = 2 * padded_channels(phases() * m_out[1]) <= phases() * padded_channels(m_out[1]);
    const bool same_reads = m_weights.groups == 1 && alike(m_axis[0]).size() == 1 && alike(m_axis[1]).size() == 1;
    if (phases() <= max_written_phases && !(m_is_float && few && same_reads))
      by_phases();
    else
      by_channels();
  }

 private:
  void write_floats() {
    m_layers.convolve = [this](conv_parameters layer, int input, int result) {
      m_c.emit(std::move(layer), {input}, result).exact = m_layers.exact;
    };
    m_layers.fill = [this](int result) { emit_bias(result); };
  }

  std::int64_t phases() const { return m_axis[0].stride * m_axis[1].stride; }

  /// A convolution per phase; an interleaving puts their pixels together.
  void by_phases() {
    std::vector<int> parts;
    for (std::int64_t r = 0; r < m_axis[0].stride; ++r)
      for (std::int64_t s = 0; s < m_axis[1].stride; ++s) {
        const std::string number = std::to_string(parts.size());
        parts.push_back(phases() == 1
                            ? m_uncut
                            : m_c.temporary(m_name + "phase" + number,
                                            spatial_shape(m_out[1], m_length[0], m_length[1]), m_layers.type));
        emit_phase(taps_of(m_axis[0], r), taps_of(m_axis[1], s), parts.back());
      }
    if (phases() > 1)
      m_c.emit(interleave_parameters{static_cast<int>(m_axis[0].stride), static_cast<int>(m_axis[1].stride)}, parts,
               m_uncut);
    cut();
  }

  /// Phases of one axis whose taps read the same input positions.
  struct alike_phases {
    std::vector<std::int64_t> phase;
    std::vector<phase_taps> taps;  ///< of each
  };

  /// The phases of an axis by the input positions that they read, in the order of their first phases. No weight of 0
  /// stands for a tap that a phase lacks, because 0 times an infinite input is not 0.
  static std::vector<alike_phases> alike(const axis_of_transpose& a) {
    std::vector<alike_phases> result;
    for (std::int64_t phase = 0; phase < a.stride; ++phase) {
      const phase_taps t = taps_of(a, phase);
      const auto same = [&t](const alike_phases& p) {
        const phase_taps& first = p.taps.front();
        return first.tap.size() == t.tap.size() && first.first == t.first && first.step == t.step;
      };
      auto at = std::find_if(result.begin(), result.end(), same);
      if (at == result.end()) at = result.insert(at, alike_phases{});
      at->phase.push_back(phase);
      at->taps.push_back(t);
    }
    return result;
  }

  /// A convolution per set of phases that read the same positions, whose channels are (output, row phase, column
  /// phase); the channels become pixels.
  void by_channels() {
    m_c.charge(static_cast<double>(phases()) * static_cast<double>(m_out[1] + m_axis[0].kernel + m_axis[1].kernel));
    const std::vector<alike_phases> rows = alike(m_axis[0]), columns = alike(m_axis[1]);
    std::vector<int> lines;
    for (const alike_phases& y : rows) {
      if (y.taps.front().tap.empty()) {
        lines.push_back(empty(y.taps.size(), static_cast<std::size_t>(m_axis[1].stride)));
        continue;
      }
      std::vector<int> parts;
      for (const alike_phases& x : columns)
        parts.push_back(x.taps.front().tap.empty() ? empty(y.taps.size(), x.taps.size()) : pixels_of(y, x));
      lines.push_back(in_order(parts, 5, columns));
    }
    m_c.emit(reshape_parameters{true}, {in_order(lines, 3, rows)}, m_uncut);
    cut();
  }

  /// Pixels [N, O, height, row phases, width, column phases] that no tap reaches.
  int empty(std::size_t row_phases, std::size_t column_phases) {
    const int result = m_c.temporary(m_name + "empty" + std::to_string(m_c.made().values.size()),
                                     {m_x[0], m_out[1], m_length[0], static_cast<std::int64_t>(row_phases), m_length[1],
                                      static_cast<std::int64_t>(column_phases)},
                                     m_layers.type);
    m_layers.fill(result);
    return result;
  }

  /// Pixels [N, O, height, row phases, width, column phases] that taps reach.
  int pixels_of(const alike_phases& rows, const alike_phases& columns) {
    const auto sh = static_cast<std::int64_t>(rows.phase.size()), sw = static_cast<std::int64_t>(columns.phase.size());
    const std::int64_t height = m_length[0], width = m_length[1];
    const std::string number = std::to_string(m_c.made().values.size());
    const phase_taps &y = rows.taps.front(), &x = columns.taps.front();
    const int product =
        m_c.temporary(m_name + "phases" + number, spatial_shape(m_out[1] * sh * sw, height, width), m_layers.type);
    conv_parameters c = window_of(y, x);
    c.outputs = static_cast<int>(m_out[1] * sh * sw);
    c.weights = channel_weights(rows, columns);
    for (std::int64_t i = 0; i < m_out[1] * sh * sw; ++i)
      c.bias.push_back(m_bias[static_cast<std::size_t>(i / (sh * sw))]);
    convolve(std::move(c), y.first, x.first, product);
    const int split = reshaped(m_c, product, {m_x[0], m_out[1], sh, sw, height, width});
    return transposed(m_c, split, {0, 1, 4, 2, 5, 3}, m_name + "pixels" + number);
  }

  /// The parts one behind the other along an axis that holds their phases, by rising phase.
  int in_order(const std::vector<int>& parts, std::size_t axis, const std::vector<alike_phases>& of) {
    if (parts.size() == 1) return parts[0];
    shape_t shape = m_c.shape(parts[0]);
    std::vector<std::int64_t> order;
    for (const alike_phases& p : of) order.insert(order.end(), p.phase.begin(), p.phase.end());
    shape[axis] = static_cast<std::int64_t>(order.size());
    const std::string number = std::to_string(m_c.made().values.size());
    const int all = m_c.temporary(m_name + "together" + number, shape, m_layers.type);
    m_c.emit(concat_parameters{static_cast<int>(axis)}, parts, all);
    if (std::is_sorted(order.begin(), order.end())) return all;
    std::vector<std::int64_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    const int table = constant_integers(m_c, m_name + "order" + number, {shape[axis]}, element::i32, place),
              sorted = m_c.temporary(m_name + "sorted" + number, shape, m_layers.type);
    m_c.emit(gather_parameters{static_cast<int>(axis), false}, {all, table}, sorted);
    return sorted;
  }

  shape_t spatial_shape(std::int64_t channels, std::int64_t height, std::int64_t width) const {
    return m_x.size() == 4 ? shape_t{m_x[0], channels, height, width} : shape_t{m_x[0], channels, width};
  }

  /// Phases have as many rows and columns as the longest one; what is too much is cut off.
  void cut() {
    if (m_whole != m_out) m_c.emit(whole_slice(m_x.size()), {m_uncut}, m_result);
  }

  /// Pixels that no tap reaches.
  void emit_bias(int result) {
    shape_t column(m_c.shape(result).size(), 1);
    const std::int64_t channels = column[1] = m_c.shape(result)[1];
    std::vector<double> bias;
    for (std::int64_t i = 0; i < channels; ++i)
      bias.push_back(m_bias[static_cast<std::size_t>(i * m_out[1] / channels)]);
    const std::string name = "bias" + std::to_string(m_c.made().values.size());
    m_c.emit(expand_parameters{}, {constant(m_c, name, column, bias)}, result);
  }

  void emit_phase(const phase_taps& rows, const phase_taps& columns, int part) {
    if (rows.tap.empty() || columns.tap.empty()) return m_layers.fill(part);
    conv_parameters c = window_of(rows, columns);
    c.outputs = static_cast<int>(m_out[1]);
    c.weights = phase_weights(m_weights, rows, columns);
    c.bias = m_bias;
    convolve(std::move(c), rows.first, columns.first, part);
  }

  /// A convolution with the kernel, dilation and groups of a phase.
  conv_parameters window_of(const phase_taps& rows, const phase_taps& columns) const {
    conv_parameters c;
    c.w.kernel_h = static_cast<int>(rows.tap.size());
    c.w.kernel_w = static_cast<int>(columns.tap.size());
    c.w.dilation_h = static_cast<int>(rows.step);
    c.w.dilation_w = static_cast<int>(columns.step);
    c.groups = static_cast<int>(m_weights.groups);
    return c;
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
      if (skip_rows >= m_axis[0].input || skip_columns >= m_axis[1].input) return m_layers.fill(result);
      slice_parameters s = whole_slice(m_x.size());
      s.starts.back() = skip_columns;
      if (m_x.size() == 4) s.starts[2] = skip_rows;
      const int part = m_c.temporary("crop" + std::to_string(m_c.made().values.size()),
                                     spatial_shape(m_x[1], m_axis[0].input - skip_rows, m_axis[1].input - skip_columns),
                                     m_layers.type);
      m_c.emit(std::move(s), {input}, part);
      input = part;
    }
    m_layers.convolve(std::move(c), input, result);
  }

  /// Weights [O][row phases][column phases][C / groups][taps] of some phases.
  std::vector<double> channel_weights(const alike_phases& rows, const alike_phases& columns) const {
    const std::size_t taps = rows.taps.front().tap.size() * columns.taps.front().tap.size();
    m_c.charge(static_cast<double>(m_out[1] * m_weights.channels) *
               static_cast<double>(rows.phase.size() * columns.phase.size() * taps));
    std::vector<double> result;
    for (std::int64_t o = 0; o < m_out[1]; ++o)
      for (const phase_taps& y : rows.taps)
        for (const phase_taps& x : columns.taps)
          for (std::int64_t i = 0; i < m_weights.channels; ++i)
            for (const std::int64_t a : y.tap)
              for (const std::int64_t b : x.tap)
                result.push_back(m_weights.at(o / m_weights.outputs, i, o % m_weights.outputs, a, b));
    return result;
  }

  context& m_c;
  int m_input;
  shape_t m_x, m_out, m_whole;
  axis_of_transpose m_axis[2];    ///< rows, columns
  std::int64_t m_length[2] = {};  ///< of a phase
  transposed_weights m_weights;
  std::vector<double> m_bias;
  int m_result, m_uncut = no_value;  ///< m_uncut: the phases' pixels together
  std::string m_name;
  phase_layers m_layers;
  bool m_is_float = true;  ///< and no layers of others
};

}

std::vector<axis_of_transpose> axes_of_transposition(const context& c, std::size_t weights) {
  const shape_t &x = c.in_shape(0), &w = c.in_shape(weights), &y = c.out_shape();
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

void write_transposition(context& c, transposed_images i) { transposition(c, std::move(i)).write(); }

namespace {

void conv_transpose(context& c) {
  const std::size_t rank = c.in_shape(0).size();
  if (rank < 3 || rank > 5) c.refuse("transposed convolution has one, two or three spatial axes");
  const std::vector<axis_of_transpose> axes = axes_of_transposition(c, 1);
  const bool computed = !c.input(1).constant;
  const int unbiased = result_before_bias(c, computed ? c.has(2) : bias_is_computed(c));
  if (computed) {
    transpose_by_computed_weights(c, axes, unbiased);
  } else if (rank == 5) {
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
