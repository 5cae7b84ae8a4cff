// SPDX-License-Identifier: MIT
/// Conv and ConvTranspose over any number of spatial axes: patches as a matrix, then a product.
#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "reference/gemm.hpp"
#include "reference/window.hpp"

namespace nsk::tool::reference {
namespace {

/// Calls f(i) once for each i in [0, count), on several threads where `work` multiply-adds are worth starting them, and
/// returns when all have returned. Results must not depend on the order. What a call throws, one of them at random, is
/// thrown again here.
template <class F>
void parallel_for(std::int64_t count, double work, F f) {
  constexpr double work_per_thread = 4e6;  // about a millisecond, twenty times what a thread takes to start
  const auto limit = static_cast<std::int64_t>(std::min(work / work_per_thread, 64.0));
  const std::int64_t threads = std::min({count, limit, static_cast<std::int64_t>(std::thread::hardware_concurrency())});
  if (threads < 2) {
    for (std::int64_t i = 0; i < count; ++i) f(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  const auto take = [&] {
    try {
      for (std::int64_t i = next++; i < count && !failed; i = next++) f(i);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(take);
  take();
  for (std::thread& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
}

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

conv_sizes conv_of(call& c) {
  const shape_t &x = c.shape(0), &weights = c.shape(1);
  conv_sizes s;
  s.groups = c.op().integer("group", 1);
  if (s.groups < 1 || s.groups > max_length || x[1] % s.groups != 0 || weights[0] % s.groups != 0)
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

/// One tap of the kernel at `count` consecutive output positions of a block, the first of them `position`: it reads
/// `offset`, `offset + step`, ...
struct tap_run {
  std::int64_t index, position, count, offset, step;
};

/// All taps inside the input of output positions [first, last), in the kernel's order.
std::vector<tap_run> taps_of_block(const window& w, std::int64_t first, std::int64_t last) {
  std::vector<std::vector<tap_run>> runs(static_cast<std::size_t>(count_of(w.kernel)));
  std::vector<tap> taps;
  for_each_index(w.output, first, last, [&](std::int64_t i, const shape_t& at) {
    find_taps(w, at, taps);
    for (const tap& t : taps) {
      std::vector<tap_run>& of_tap = runs[static_cast<std::size_t>(t.index)];
      if (!of_tap.empty()) {
        tap_run& r = of_tap.back();
        const std::int64_t step = t.offset - (r.offset + (r.count - 1) * r.step);
        if (r.position + r.count == i - first && (r.count == 1 || step == r.step)) {
          r.step = step;
          ++r.count;
          continue;
        }
      }
      of_tap.push_back({t.index, i - first, 1, t.offset, 0});
    }
  });
  std::vector<tap_run> all;
  for (const std::vector<tap_run>& of_tap : runs) all.insert(all.end(), of_tap.begin(), of_tap.end());
  return all;
}

/// Whether output position i reads input position i and nothing else: the input is its own matrix of patches.
bool is_pointwise(const conv_sizes& s) {
  bool in_place = s.taps == 1 && s.w.output == s.w.input;
  for (std::size_t d = 0; d < s.w.axes(); ++d) in_place = in_place && s.w.stride[d] == 1 && s.w.pad_begin[d] == 0;
  return in_place;
}

/// y[positions of a block] += weights times what the taps read of one channel.
void add_channel(const double* x, const double* weights, const std::vector<tap_run>& taps, double* y) {
  for (const tap_run& r : taps) {
    const double weight = weights[r.index];
    for (std::int64_t i = 0; i < r.count; ++i) y[r.position + i] += weight * x[r.offset + i * r.step];
  }
}

/// y[outputs][positions of a block] += weights times the patches that the taps read. `patches` is scratch whose entries
/// without a tap are 0.
void multiply_block(const conv_sizes& s, const double* x, const double* weights, const std::vector<tap_run>& taps,
                    std::int64_t positions, std::vector<double>& patches, double* y) {
  for (std::int64_t channel = 0; channel < s.channels; ++channel) {
    double* rows = patches.data() + channel * s.taps * positions;
    const double* plane = x + channel * s.plane;
    for (const tap_run& r : taps)
      for (std::int64_t i = 0; i < r.count; ++i)
        rows[r.index * positions + r.position + i] = plane[r.offset + i * r.step];
  }
  const std::int64_t depth = s.channels * s.taps;
  gemm(s.outputs, positions, depth, weights, depth, patches.data(), positions, y, s.positions);
}

double work_of_conv(call& c) {
  const conv_sizes s = conv_of(c);
  const double patches = as_work(s.batch) * as_work(s.groups) * as_work(s.positions);
  return patches * as_work(s.channels) * as_work(s.taps) * (as_work(s.outputs) + 4) +
         8 * patches * as_work(s.taps) * as_work(static_cast<std::int64_t>(s.w.axes()));
}

/// Output positions [first, last) of every image and group.
void convolve_block(call& c, const conv_sizes& s, std::int64_t first, std::int64_t last) {
  const std::int64_t depth = s.channels * s.taps, positions = last - first;
  const bool pointwise = is_pointwise(s), lone = s.channels == 1 && s.outputs == 1;
  const std::vector<tap_run> taps = pointwise ? std::vector<tap_run>() : taps_of_block(s.w, first, last);
  std::vector<double> patches(pointwise || lone ? 0 : static_cast<std::size_t>(depth * positions), 0.0);
  for (std::int64_t image = 0; image < s.batch * s.groups; ++image) {
    const double* x = c.floats(0) + image * s.channels * s.plane;
    const double* weights = c.floats(1) + image % s.groups * s.outputs * depth;
    double* y = c.out_floats() + image * s.outputs * s.positions + first;
    if (pointwise)
      gemm(s.outputs, positions, depth, weights, depth, x + first, s.plane, y, s.positions);
    else if (lone)
      add_channel(x, weights, taps, y);
    else
      multiply_block(s, x, weights, taps, positions, patches, y);
  }
}

void evaluate_conv(call& c) {
  const conv_sizes s = conv_of(c);
  fill_bias(c, s.batch, s.outputs * s.groups, s.positions);
  const std::int64_t block = block_of(s.channels * s.taps), blocks = (s.positions + block - 1) / block;
  parallel_for(blocks, work_of_conv(c),
               [&](std::int64_t i) { convolve_block(c, s, i * block, std::min((i + 1) * block, s.positions)); });
}

// ConvTranspose is Conv's adjoint: `w` describes the convolution that leads from the output back to the input.

conv_sizes conv_transpose_of(call& c) {
  const shape_t &x = c.shape(0), &weights = c.shape(1);
  conv_sizes s;
  s.groups = c.op().integer("group", 1);
  if (s.groups < 1 || s.groups > max_length || x[1] % s.groups != 0)
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
  const std::string auto_pad = auto_pad_of(c);
  const bool same = auto_pad.rfind("SAME", 0) == 0;
  for (std::int64_t v : wanted)
    c.require(v >= 0 && v <= max_length, "attribute 'output_shape' has an impossible value");
  for (std::size_t d = 0; d < axes; ++d) {
    c.require(w.input[d] <= max_length && extra[d] >= 0 && extra[d] <= max_length,
              "the input or attribute 'output_padding' is too long");
    if (auto_pad == "VALID") w.pad_begin[d] = w.pad_end[d] = 0;
    const std::int64_t full = (w.input[d] - 1) * w.stride[d] + extra[d] + w.reach(d);
    std::int64_t length = full - w.pad_begin[d] - w.pad_end[d];
    if (!wanted.empty() || same) {
      // SAME cuts to input * stride what is longer; what a large stride leaves shorter stays so, as in the runtimes
      length = wanted.empty() ? std::min(full, w.input[d] * w.stride[d]) : wanted[wanted.size() - axes + d];
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
      for_each_index(s.w.output, first, last, [&](std::int64_t i, const shape_t& at) {
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
