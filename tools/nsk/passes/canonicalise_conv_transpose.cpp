// SPDX-License-Identifier: MIT
/// Transposed convolution as plain convolutions. Along one axis, output o = stride * q + r of phase r is the sum over the taps k whose
/// r + pad - k * dilation is a multiple of the stride, of weight k times input q + (r + pad - k * dilation) / stride: a convolution with
/// stride 1. Few phases are convolutions that write every stride-th pixel; many are one convolution whose channels become pixels.
#include <algorithm>
#include <numeric>
#include "passes/canonicalise.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t most_phases = 16;

/// One spatial axis.
struct axis_of_transpose {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;
};

/// The taps of one phase by rising input position: tap i reads input q + first + i * step.
struct phase_taps {
  std::vector<std::int64_t> tap;
  std::int64_t first = 0, step = 1;
};

phase_taps taps_of(const axis_of_transpose& a, std::int64_t phase) {
  phase_taps t;
  for (std::int64_t k = a.kernel; k-- > 0;)
    if ((phase + a.pad - k * a.dilation) % a.stride == 0) t.tap.push_back(k);
  if (t.tap.empty()) return t;
  t.first = (phase + a.pad - t.tap.front() * a.dilation) / a.stride;
  t.step = a.dilation / std::gcd(a.dilation, a.stride);
  return t;
}

struct transposed_weights {
  std::vector<double> values;  ///< [C][O / groups][kernel_h][kernel_w]
  std::int64_t channels, outputs, groups, kernel_h, kernel_w;  ///< channels and outputs are per group

  double at(std::int64_t group, std::int64_t channel, std::int64_t output, std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>((((group * channels + channel) * outputs + output) * kernel_h + y) * kernel_w + x)];
  }
};

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

}

void canonicaliser::conv_transpose(const node& n) {
  const shape_t x = in_shape(n, 0), weight_shape = in_shape(n, 1), out = out_shape(n);
  if (x.size() != 3 && x.size() != 4) refuse_node(n, "transposed convolution has one or two spatial axes; 3-D has no kernel");
  const std::size_t dims = x.size() - 2;
  transposed_weights w{numbers(n, 1, "the weights"), 0, weight_shape[1], n.integer("group", 1), dims == 2 ? weight_shape[2] : 1, weight_shape.back()};
  w.channels = x[1] / w.groups;
  const std::vector<std::int64_t> strides = n.integers("strides", std::vector<std::int64_t>(dims, 1));
  const std::vector<std::int64_t> dilations = n.integers("dilations", std::vector<std::int64_t>(dims, 1));
  const std::vector<std::int64_t> pads = n.integers("pads", std::vector<std::int64_t>(2 * dims, 0));
  const std::vector<std::int64_t> extra = n.integers("output_padding", std::vector<std::int64_t>(dims, 0));
  const std::string auto_pad = n.text("auto_pad", "NOTSET");
  const bool chosen = n.has("output_shape") || auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  axis_of_transpose axis[2];  // rows, columns
  for (std::size_t d = 0; d < dims; ++d) {
    axis_of_transpose& a = axis[2 - dims + d];
    a = {x[d + 2], out[d + 2], weight_shape[d + 2], strides[d], dilations[d], auto_pad == "VALID" ? 0 : pads[d]};
    if (a.kernel < 1 || a.stride < 1 || a.dilation < 1) refuse_node(n, "a kernel, stride or dilation is not positive");
    if (!chosen) continue;
    const std::int64_t total = std::max<std::int64_t>(0, (a.input - 1) * a.stride + extra[d] + (a.kernel - 1) * a.dilation + 1 - a.output);
    a.pad = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  const std::vector<double> bias = present(n, 2) ? numbers(n, 2, "the bias") : std::vector<double>(static_cast<std::size_t>(w.outputs * w.groups), 0.0);
  const auto spatial_shape = [&](std::int64_t channels, std::int64_t h, std::int64_t v) {
    return dims == 2 ? shape_t{x[0], channels, h, v} : shape_t{x[0], channels, v};
  };
  const auto phases = axis[0].stride * axis[1].stride;
  // every phase has as many rows and columns as the longest one; what is too much is cut off at the end
  const std::int64_t height = (axis[0].output + axis[0].stride - 1) / axis[0].stride, width = (axis[1].output + axis[1].stride - 1) / axis[1].stride;
  const shape_t whole = spatial_shape(out[1], height * axis[0].stride, width * axis[1].stride);
  const int uncut = whole == out ? of(n.outputs[0]) : temporary(n, "uncut", whole);
  const auto cut = [&] {
    if (whole != out) emit(n, slice_parameters{std::vector<std::int64_t>(x.size(), 0), std::vector<std::int64_t>(x.size(), 1)}, {uncut});
  };

  /// conv(crop(input)) to `result`: the crop where a phase reads nothing before some position.
  const auto convolve = [&](int input, conv_parameters c, std::int64_t first_row, std::int64_t first_column, int result) {
    c.w.pad_top = static_cast<int>(std::max<std::int64_t>(0, -first_row));
    c.w.pad_left = static_cast<int>(std::max<std::int64_t>(0, -first_column));
    if (c.w.pad_top > 65535 || c.w.pad_left > 65535 || c.w.kernel_h > 65535 || c.w.kernel_w > 65535) refuse_node(n, "a kernel or pad is above 65535");
    const std::int64_t skip_rows = std::max<std::int64_t>(0, first_row), skip_columns = std::max<std::int64_t>(0, first_column);
    if (skip_rows > 0 || skip_columns > 0) {
      if (skip_rows >= axis[0].input || skip_columns >= axis[1].input) refuse_node(n, "the padding leaves nothing of the input");
      slice_parameters s{std::vector<std::int64_t>(x.size(), 0), std::vector<std::int64_t>(x.size(), 1)};
      s.starts.back() = skip_columns;
      if (dims == 2) s.starts[2] = skip_rows;
      const int part = temporary(n, "crop" + std::to_string(m_program.values.size()), spatial_shape(x[1], axis[0].input - skip_rows, axis[1].input - skip_columns));
      emit(n, std::move(s), {input}, part);
      input = part;
    }
    emit(n, std::move(c), {input}, result);
  };

  if (phases <= most_phases) {
    std::vector<int> parts;
    for (std::int64_t r = 0; r < axis[0].stride; ++r)
      for (std::int64_t s = 0; s < axis[1].stride; ++s) {
        const phase_taps rows = taps_of(axis[0], r), columns = taps_of(axis[1], s);
        const shape_t shape = spatial_shape(out[1], height, width);
        const int part = phases == 1 ? uncut : temporary(n, "phase" + std::to_string(parts.size()), shape);
        parts.push_back(part);
        if (rows.tap.empty() || columns.tap.empty()) {  // nothing reaches these pixels but the bias
          shape_t column(x.size(), 1);
          column[1] = out[1];
          emit(n, expand_parameters{}, {constant(n, "bias" + std::to_string(parts.size()), column, bias)}, part);
          continue;
        }
        conv_parameters c;
        c.w.kernel_h = static_cast<int>(rows.tap.size());
        c.w.kernel_w = static_cast<int>(columns.tap.size());
        c.w.dilation_h = static_cast<int>(rows.step);
        c.w.dilation_w = static_cast<int>(columns.step);
        c.groups = static_cast<int>(w.groups);
        c.outputs = static_cast<int>(out[1]);
        c.weights = phase_weights(w, rows, columns);
        c.bias = bias;
        convolve(in(n, 0), std::move(c), rows.first, columns.first, part);
      }
    if (phases > 1) emit(n, interleave_parameters{static_cast<int>(axis[0].stride), static_cast<int>(axis[1].stride)}, parts, uncut);
    return cut();
  }

  // one window that holds the taps of every phase; channels are (output, row phase, column phase)
  std::int64_t first[2], last[2];
  for (int d = 0; d < 2; ++d) {
    first[d] = std::numeric_limits<std::int64_t>::max();
    last[d] = std::numeric_limits<std::int64_t>::min();
    for (std::int64_t r = 0; r < axis[d].stride; ++r) {
      const phase_taps t = taps_of(axis[d], r);
      if (t.tap.empty()) continue;
      first[d] = std::min(first[d], t.first);
      last[d] = std::max(last[d], t.first + (static_cast<std::int64_t>(t.tap.size()) - 1) * t.step);
    }
  }
  const std::int64_t sh = axis[0].stride, sw = axis[1].stride, kh = last[0] - first[0] + 1, kw = last[1] - first[1] + 1;
  conv_parameters c;
  c.w.kernel_h = static_cast<int>(kh);
  c.w.kernel_w = static_cast<int>(kw);
  c.groups = static_cast<int>(w.groups);
  c.outputs = static_cast<int>(out[1] * phases);
  c.weights.assign(static_cast<std::size_t>(out[1] * phases * w.channels * kh * kw), 0.0);
  c.bias.resize(static_cast<std::size_t>(out[1] * phases));
  for (std::size_t i = 0; i < c.bias.size(); ++i) c.bias[i] = bias[i / static_cast<std::size_t>(phases)];
  for (std::int64_t r = 0; r < sh; ++r)
    for (std::int64_t s = 0; s < sw; ++s) {
      const phase_taps rows = taps_of(axis[0], r), columns = taps_of(axis[1], s);
      for (std::int64_t o = 0; o < out[1]; ++o)
        for (std::int64_t i = 0; i < w.channels; ++i)
          for (std::size_t a = 0; a < rows.tap.size(); ++a)
            for (std::size_t b = 0; b < columns.tap.size(); ++b) {
              const std::int64_t y = rows.first - first[0] + static_cast<std::int64_t>(a) * rows.step, z = columns.first - first[1] + static_cast<std::int64_t>(b) * columns.step;
              c.weights[static_cast<std::size_t>((((o * phases + r * sw + s) * w.channels + i) * kh + y) * kw + z)] =
                  w.at(o / w.outputs, i, o % w.outputs, rows.tap[a], columns.tap[b]);
            }
    }
  const int product = temporary(n, "phases", spatial_shape(out[1] * phases, height, width));
  convolve(in(n, 0), std::move(c), first[0], first[1], product);
  const int split = reshaped(n, product, {x[0], out[1], sh, sw, height, width}), turned = temporary(n, "turned", {x[0], out[1], height, sh, width, sw});
  emit(n, transpose_parameters{{0, 1, 4, 2, 5, 3}}, {split}, turned);
  emit(n, reshape_parameters{true}, {turned}, uncut);
  cut();
}

}
