// SPDX-License-Identifier: MIT
#pragma once
/// A float network as one of stored integers: ranges from samples, weights and biases as integers, and pairs of
/// QuantizeLinear and DequantizeLinear around each layer, which become layers of integers (resolve/infer.hpp).
#include <functional>
#include <set>
#include <string>
#include <vector>
#include "compile/compile.hpp"
#include "quantize/calibrate.hpp"
#include "quantize/ranges.hpp"
#include "quantize/weights.hpp"

namespace nsk::tool {

struct quantize_choices {
  range_method ranges = range_method::mse;
  weight_choices weights;
  bool corrects_bias = true;   ///< biases take what rounded weights change of the mean
  std::set<std::string> kept;  ///< names of nodes that stay as they are
};

/// Rewrites the graph of `v` by what `samples` show. Returns what happened, as sentences for people: how many layers
/// are integers, which are not and why, and the signal to noise of each output on the samples. Refuses names of
/// `kept` that are no layers, networks without a layer, and models with states or several rows.
std::vector<std::string> quantize(variant_source& v, const std::vector<sample>& samples, const quantize_choices& how,
                                  const std::function<void(const std::string& what, double share)>& progress);

}
