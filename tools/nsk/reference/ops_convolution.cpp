// SPDX-License-Identifier: MIT
/// Conv and ConvTranspose over any number of spatial axes: patches as a matrix, then a product.
#include <algorithm>

#include "reference/gemm.hpp"
#include "reference/window.hpp"

namespace nsk::tool::reference {
namespace {

void require_conv_inputs(call& c) {
  c.require_inputs(2, 3);
  c.require_float(0);
  c.require(c.type(1) == c.type(0) && (!c.has(2) || c.type(2) == c.type(0)),
            "input, weights and bias must have the same type");
  c.require_rank(0, 3, 8);
  c.require_rank(1, c.rank(0), c.rank(0));
}

/// Positions that are worked on together: patches of about a megabyte.
std::int64_t block_of(std::int64_t depth) {
  if (depth > 131072) return 1;
  return std::clamp<std::int64_t>((131072 / std::max<std::int64_t>(depth, 1)) & ~std::int64_t{7}, 8, 512);
}

struct conv_sizes {
  std::int64_t batch, groups, channels, outputs, taps, positions, plane;  ///< channels and outputs are per group
  window w;
};

constexpr std::int64_t largest = std::int64_t{1} << 31;  // of lengths that are multiplied with others

conv_sizes conv_of(call& c) {
  const shape_t &x = c.shape(0), &weights = c.shape(1);
  conv_sizes s;
  s.groups = c.op().integer("group", 1);
  if (s.groups < 1 || s.groups > largest || x[1] % s.groups != 0 || weights[0] % s.groups != 0)
    c.fail("the channels cannot be divided into " + std::to_string(s.groups) + " groups");
  s.batch = x[0];
  s.channels = x[1] / s.groups;
  s.outputs = weights[0] / s.groups;
  if (weights[1] != s.channels)
    c.fail("the weights are for " + std::to_string(weights[1] * s.groups) + " input channels, the input has " +
           std::to_string(x[1]));
  s.w = read_window(c, spatial_of(x), spatial_of(weights));
  finish_window(c, s.w, false);
  s.taps = count_of(s.w.kernel);
  s.positions = count_of(s.w.output);
  s.plane = count_of(s.w.input);
  return s;
}

void require_bias(call& c, std::int64_t outputs) {
  if (c.has(2)) c.require(c.shape(2) == shape_t{outputs}, "the bias must have one value per output channel");
}

void infer_conv(call& c) {
  require_conv_inputs(c);
  const conv_sizes s = conv_of(c);
  require_bias(c, s.outputs * s.groups);
  c.declare(0, c.type(0), with_spatial(s.batch, s.outputs * s.groups, s.w.output));
}

void fill_bias(call& c, std::int64_t batch, std::int64_t outputs, std::int64_t positions) {
  if (!c.has(2)) return;
  for (std::int64_t i = 0; i < batch * outputs; ++i)
    std::fill_n(c.out_floats() + i * positions, positions, c.floats(2)[i % outputs]);
}

/// A tap of the output position `position`, counted from the first of its block.
struct placed_tap {
  std::int64_t position, index, offset;
};

/// All taps inside the input of output positions [first, last).
std::vector<placed_tap> taps_of_block(const window& w, std::int64_t first, std::int64_t last) {
  std::vector<placed_tap> placed;
  std::vector<tap> taps;
  for_each_position(w, first, last, [&](std::int64_t i, const shape_t& at) {
    find_taps(w, at, taps);
    for (const tap& t : taps) placed.push_back({i - first, t.index, t.offset});
  });
  return placed;
}

/// Whether output position i reads input position i and nothing else: the input is its own matrix of patches.
bool is_pointwise(const conv_sizes& s) {
  bool in_place = s.taps == 1 && s.w.output == s.w.input;
  for (std::size_t d = 0; d < s.w.axes(); ++d) in_place = in_place && s.w.stride[d] == 1 && s.w.pad_begin[d] == 0;
  return in_place;
}

/// y[outputs][positions of a block] += weights times the patches that `taps` name. `patches` is scratch whose entries
/// without a tap are 0.
void multiply_block(const conv_sizes& s, const double* x, const double* weights, const std::vector<placed_tap>& taps,
                    std::int64_t positions, std::int64_t block, std::vector<double>& patches, double* y) {
  if (s.channels == 1 && s.outputs == 1) {
    for (const placed_tap& t : taps) y[t.position] += weights[t.index] * x[t.offset];
    return;
  }
  for (std::int64_t channel = 0; channel < s.channels; ++channel) {
    double* rows = patches.data() + channel * s.taps * block;
    for (const placed_tap& t : taps) rows[t.index * block + t.position] = x[channel * s.plane + t.offset];
  }
  const std::int64_t depth = s.channels * s.taps;
  gemm(s.outputs, positions, depth, weights, depth, patches.data(), block, y, s.positions);
}

void evaluate_conv(call& c) {
  const conv_sizes s = conv_of(c);
  fill_bias(c, s.batch, s.outputs * s.groups, s.positions);
  const std::int64_t depth = s.channels * s.taps, block = block_of(depth);
  const bool pointwise = is_pointwise(s), lone = s.channels == 1 && s.outputs == 1;
  std::vector<double> patches(pointwise || lone ? 0
                                                : static_cast<std::size_t>(depth * block));  // [channel][tap][position]
  const std::int64_t step = pointwise ? std::max<std::int64_t>(s.positions, 1) : block;
  for (std::int64_t first = 0; first < s.positions; first += step) {
    const std::int64_t last = std::min(first + step, s.positions);
    const std::vector<placed_tap> taps = pointwise ? std::vector<placed_tap>() : taps_of_block(s.w, first, last);
    std::fill(patches.begin(), patches.end(), 0.0);
    for (std::int64_t image = 0; image < s.batch * s.groups; ++image) {
      const double* x = c.floats(0) + image * s.channels * s.plane;
      const double* weights = c.floats(1) + image % s.groups * s.outputs * depth;
      double* y = c.out_floats() + image * s.outputs * s.positions + first;
      if (pointwise)
        gemm(s.outputs, s.positions, depth, weights, depth, x, s.plane, y, s.positions);
      else
        multiply_block(s, x, weights, taps, last - first, block, patches, y);
    }
  }
}

double work_of_conv(call& c) {
  const conv_sizes s = conv_of(c);
  const double patches = as_work(s.batch) * as_work(s.groups) * as_work(s.positions);
  return patches * as_work(s.channels) * as_work(s.taps) * (as_work(s.outputs) + 4) +
         8 * patches * as_work(s.taps) * as_work(static_cast<std::int64_t>(s.w.axes()));
}

// ConvTranspose is Conv's adjoint: `w` describes the convolution that leads from the output back to the input.

conv_sizes conv_transpose_of(call& c) {
  const shape_t &x = c.shape(0), &weights = c.shape(1);
  conv_sizes s;
  s.groups = c.op().integer("group", 1);
  if (s.groups < 1 || s.groups > largest || x[1] % s.groups != 0)
    c.fail("the channels cannot be divided into " + std::to_string(s.groups) + " groups");
  if (weights[0] != x[1])
    c.fail("the weights are for " + std::to_string(weights[0]) + " input channels, the input has " +
           std::to_string(x[1]));
  s.batch = x[0];
  s.channels = x[1] / s.groups;
  s.outputs = weights[1];
  window& w = s.w = read_window(c, spatial_of(x), spatial_of(weights));
  const std::size_t axes = w.axes();
  const shape_t extra = c.op().integers("output_padding", shape_t(axes, 0)), wanted = c.op().integers("output_shape");
  c.require(extra.size() == axes && (wanted.empty() || wanted.size() == axes || wanted.size() == axes + 2),
            "output_padding or output_shape has a wrong length");
  const std::string auto_pad = c.op().text("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  c.require(same || auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad.empty(),
            "attribute 'auto_pad' must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  for (std::int64_t v : wanted) c.require(v >= 0 && v <= largest, "attribute 'output_shape' has an impossible value");
  for (std::size_t d = 0; d < axes; ++d) {
    c.require(w.input[d] <= largest && extra[d] >= 0 && extra[d] <= largest,
              "the input or attribute 'output_padding' is too long");
    if (auto_pad == "VALID") w.pad_begin[d] = w.pad_end[d] = 0;
    const std::int64_t full = (w.input[d] - 1) * w.stride[d] + extra[d] + w.reach(d);
    std::int64_t length = full - w.pad_begin[d] - w.pad_end[d];
    if (!wanted.empty() || same) {
      length = wanted.empty() ? w.input[d] * w.stride[d] : wanted[wanted.size() - axes + d];
      const std::int64_t total = std::max<std::int64_t>(0, full - length);
      w.pad_begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.pad_end[d] = total - w.pad_begin[d];
    }
    if (length < 1 || w.input[d] < 1) c.fail("the output would be empty along spatial axis " + std::to_string(d));
    w.output[d] = w.input[d];
    w.input[d] = length;
  }
  s.taps = checked_count(w.kernel, c.who());
  s.positions = checked_count(w.output, c.who());
  s.plane = checked_count(w.input, c.who());
  return s;
}

void infer_conv_transpose(call& c) {
  require_conv_inputs(c);
  const conv_sizes s = conv_transpose_of(c);
  require_bias(c, s.outputs * s.groups);
  c.declare(0, c.type(0), with_spatial(s.batch, s.outputs * s.groups, s.w.input));
}

void evaluate_conv_transpose(call& c) {
  const conv_sizes s = conv_transpose_of(c);
  fill_bias(c, s.batch, s.outputs * s.groups, s.plane);
  const std::int64_t width = s.outputs * s.taps, block = block_of(width);
  std::vector<double> products(static_cast<std::size_t>(width * block));      // [output][tap][position]
  std::vector<double> weights(static_cast<std::size_t>(width * s.channels));  // [output][tap][channel]
  std::vector<tap> taps;
  for (std::int64_t image = 0; image < s.batch * s.groups; ++image) {
    const double* given = c.floats(1) + image % s.groups * s.channels * width;
    for (std::int64_t channel = 0; channel < s.channels; ++channel)
      for (std::int64_t i = 0; i < width; ++i)
        weights[static_cast<std::size_t>(i * s.channels + channel)] = given[channel * width + i];
    const double* x = c.floats(0) + image * s.channels * s.positions;
    double* y = c.out_floats() + image * s.outputs * s.plane;
    for (std::int64_t first = 0; first < s.positions; first += block) {
      const std::int64_t last = std::min(first + block, s.positions);
      std::fill(products.begin(), products.end(), 0.0);
      gemm(width, last - first, s.channels, weights.data(), s.channels, x + first, s.positions, products.data(), block);
      for_each_position(s.w, first, last, [&](std::int64_t i, const shape_t& at) {
        find_taps(s.w, at, taps);
        for (std::int64_t output = 0; output < s.outputs; ++output)
          for (const tap& t : taps)
            y[output * s.plane + t.offset] +=
                products[static_cast<std::size_t>((output * s.taps + t.index) * block + i - first)];
      });
    }
  }
}

double work_of_conv_transpose(call& c) {
  const conv_sizes s = conv_transpose_of(c);
  const double images = as_work(s.batch) * as_work(s.groups), width = as_work(s.outputs) * as_work(s.taps);
  return images * width * (as_work(s.channels) * (as_work(s.positions) + 4) + 4 * as_work(s.positions)) +
         8 * images * as_work(s.positions) * as_work(s.taps) * as_work(static_cast<std::int64_t>(s.w.axes()));
}

}

void add_convolution(table& t) {
  t["Conv"] = {infer_conv, evaluate_conv, 1, work_of_conv};
  t["ConvTranspose"] = {infer_conv_transpose, evaluate_conv_transpose, 1, work_of_conv_transpose};
}

}
