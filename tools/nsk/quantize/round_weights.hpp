// SPDX-License-Identifier: MIT
#pragma once
/// Constants that layers multiply with, rounded to float16, or to int8 with a scale for each output channel.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include "graph/graph.hpp"
#include "program/plan.hpp"

namespace nsk::tool {

/// Names of layers that keep float32, each with the reason.
using kept_layers = std::map<std::string, std::string>;

/// A convolution with so few weights for each output channel keeps float16 in a file of int8: each of them counts for
/// more, and they are a small share of the file.
inline constexpr std::int64_t max_half_depth = 9;

/// A constant input of a node as [separate][before][channels][after]: an output channel adds up what is before and
/// after.
struct weight_input {
  std::size_t input;
  std::int64_t separate, before, channels, after;

  /// Numbers of one output channel.
  std::int64_t depth() const { return before * after; }
  auto layout() const { return std::tuple(separate, before, channels, after); }
};

/// Rounded constants by what they are made of: graphs of other lengths share them.
class rounded_constants {
 public:
  /// Makes of a constant the rounded one; returns the reason why not where that cannot be.
  std::string round(weight_format format, std::shared_ptr<const array>& constant, const weight_input& layout);

 private:
  using key = std::tuple<std::shared_ptr<const array>, decltype(weight_input().layout()), weight_format>;
  std::map<key, std::shared_ptr<const array>> m_known;
};

/// Whether a node has weights that can be rounded.
bool has_weights(const graph& g, const node& n);

/// Folds BatchNormalization into the layers before it, then rounds the constants that layers multiply with, ties to
/// even: those of convolutions, products of matrices and recurrent layers. Nodes that `kept` names stay as they are,
/// and those with numbers beyond 2^100 or channels below 2^-100. To the nearest float16, times a power of two in
/// channels that float16 does not hold, or of which it would lose more than a thousandth (2^-10, by the root of the sum
/// of squares). To int8 by the scale of each output channel that loses least of the sum of squares, its largest weight
/// becoming 127 or being cut by up to a quarter; convolutions with at most nine weights for each, depthwise ones
/// mostly, to float16.
struct rounded_weights {
  std::set<std::string> nodes;  ///< whose weights are rounded
  kept_layers declined;         ///< nodes that keep theirs, other than those of `kept`
};
/// What other graphs have rounded is in `known`.
rounded_weights round_weights(graph& g, const kept_layers& kept, weight_format format, rounded_constants& known);
rounded_weights round_weights(graph& g, const kept_layers& kept, weight_format format);

}
