// SPDX-License-Identifier: MIT
#pragma once
/// The machines that a network is for, and what layers cost there as floats and as integers.
#include <cstdint>
#include <string>
#include <vector>
#include <netsuke/format/params.hpp>
#include "graph/graph.hpp"
#include "passes/stream/stream.hpp"
#include "quantize/layers.hpp"

namespace nsk::tool {

/// What one core does in a cycle: multiply-accumulates of layers whose operands are in the caches.
struct target_rates {
  double convolution, winograd4, winograd2, depthwise;  ///< float32; Winograd's as if they were direct
  double byte_convolution, byte_depthwise;              ///< stored integers, pair-safe weights
  double weight_bytes;                                  ///< bytes of weights, where each is used once
};

struct target {
  std::string name, machine;  ///< "pc", "AVX2 without VNNI"
  target_rates rates;
  double gigahertz;  ///< of one core, for estimates in milliseconds
  stream_target streams;
  /// Bytes of float32 weights that a core of some such machine keeps in its caches from one run to the next: where they
  /// are read once per run or time step, narrower ones take longer to widen than to fetch.
  std::int64_t kept_weights;
};

/// All that are known. docs/reference/quantisation.md says where the rates come from.
const std::vector<target>& targets();

/// Returns the target of a name; null where there is none.
const target* find_target(const std::string& name);

/// The algorithm that computes a layer in float32.
conv_algorithm float_algorithm(const graph& g, const float_layer& l);

/// Cycles of one lane.
struct layer_cost {
  double floats, bytes;
};
/// Returns what a layer costs, bounds included, conversions around it not.
layer_cost cost_of(const graph& g, const float_layer& l, const target& t);

/// Returns what another node costs; one that can be no step on bytes costs min_cut::never there.
layer_cost cost_of(const graph& g, const node& n, bool can_be_bytes);

/// Returns what the sum of two tensors of stored numbers costs: as part of the layer that makes one of them, or as a
/// step.
double sum_cost(std::int64_t elements, bool joined);

/// Returns what it costs to store `elements` numbers, or to make numbers of what is stored.
double conversion_cost(std::int64_t elements);

}
