// SPDX-License-Identifier: MIT
#pragma once
/// Rules that end in steps on bytes. Kernels take uint8: an int8 is stored as the number that is 128 larger, and tables
/// flip its top bit where something else sees it (passes/fuse/bytes.cpp removes most of them).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// Constant weights less their zero points, channel by channel: [channels][depth] of a convolution, [depth][channels]
/// of a matrix.
struct integer_weights {
  std::vector<double> values, bias;
  std::size_t channels, depth, taps;  ///< depth: input channels of a group times taps of the kernel
  bool by_channel;                    ///< channels are outermost

  std::size_t channel_of(std::size_t i) const { return by_channel ? i / depth : i % channels; }
  /// Largest magnitude of a sum over inputs of at most `input`.
  double bound(double input) const {
    std::vector<double> sums(channels, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) sums[channel_of(i)] += std::abs(values[i]) * input;
    for (std::size_t i = 0; i < channels && !bias.empty(); ++i) sums[i] += std::abs(bias[i]);
    return *std::max_element(sums.begin(), sums.end());
  }
};

/// What a product of stored integers is besides its weights.
struct stored_product {
  int input;  ///< of bytes
  double input_zero;
  std::vector<float> scale;  ///< of the sums: one, or one per channel
  double zero;               ///< of the result
  std::optional<window> w;   ///< of a convolution; else the last axis is multiplied
  int groups = 1;
  int residual = no_value;  ///< of bytes, added to the result of a convolution
  float residual_scale = 0;
  double residual_zero = 0;
  int result = no_value;  ///< bytes of any value; the node's output unless it is named
};

/// Whether input and result are of bytes, and their zero points are bytes.
bool is_of_bytes(const context& c, const stored_product& p);
/// `p` with an input of uint8, and as its result uint8 that become the node's output by finish_unsigned.
stored_product unsigned_product(context& c, stored_product p);
void finish_unsigned(context& c, int result);
/// What is taken off weights so that int8 holds them; nothing where no number does.
std::optional<int> offset_of_weights(const integer_weights& w, bool depthwise);

/// Makes the product's result, bytes, in one step. Returns false, and adds nothing, where kernels cannot: weights of
/// more than 256 steps, sums that may be beyond int32, groups of few channels, a result that is not of bytes, a large
/// residual.
bool emit_stored_product(context& c, const integer_weights& w, const stored_product& p);

/// Makes the node's output, sums in int32, in one step: of bytes `x` less `zero`, one float, with `w`, whose window is
/// that of a convolution. Returns false, and adds nothing, where kernels cannot: weights beyond int8, sums that may be
/// beyond int32, groups of few channels.
bool emit_integer_sums(context& c, const integer_weights& w, int x, int zero, const std::optional<window>& window,
                       int groups);
/// Makes the node's outputs 0, 1 and 2: float input 0 as bytes, their scale and their zero point.
void emit_dynamic_quantize(context& c);
/// Input `i`, the zero point of uint8 or int8, as one float that counts from the least byte.
int zero_of_bytes(context& c, std::size_t i, element type);
/// saturate(zero + floor((a * a_multiplier + b * b_multiplier + bias) / 2^shift)) of stored integers a and b.
struct fixed_point_sum {
  std::int64_t a_multiplier, b_multiplier, bias;
  int shift;
  std::int64_t zero;
};
/// Makes the node's output of its two inputs, in one step on bytes; false where the engine has none.
bool emit_fixed_point_sum(context& c, fixed_point_sum s);

/// Makes the node's output from float x, stored by one scale; false where its type is not of bytes.
bool emit_quantize(context& c, int x, float scale, double zero);
/// Makes the node's output, floats, from bytes x; false where x is of another type.
bool emit_dequantize(context& c, int x, float scale, double zero);
/// Makes the output of a Gather that looks up bytes in a constant of 256, in one step; false where it is another one.
bool emit_look_up(context& c);
/// Makes the output of a ChannelTables in one step; false where the engine has none.
bool emit_channel_tables(context& c);
/// The larger or smaller of bytes x and a constant, as `result`.
void emit_limit(context& c, bool largest, int x, std::int64_t limit, int result);

}
