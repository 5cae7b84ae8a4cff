// SPDX-License-Identifier: MIT
#pragma once
/// A float network as one of stored integers: ranges from samples, weights and biases as integers, and pairs of
/// QuantizeLinear and DequantizeLinear around each layer, which become layers of integers (resolve/infer.hpp).
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "compile/compile.hpp"
#include "quantize/calibrate.hpp"
#include "quantize/ranges.hpp"
#include "quantize/tables.hpp"
#include "quantize/targets.hpp"
#include "quantize/weights.hpp"

namespace nsk::tool {

struct quantize_choices {
  range_method ranges = range_method::mse;
  weight_choices weights;
  bool corrects_bias = true;   ///< biases take what rounded weights change of the mean
  std::set<std::string> kept;  ///< names of nodes that stay as they are
  double max_error = 0;   ///< of the outputs, as a share of their magnitude, that layers return to float32 for; 0: any
  bool measures = false;  ///< how much each layer costs
  overrides chosen;       ///< before all other choices
  const calibration* seen = nullptr;  ///< what samples showed before; those that are given then only measure
  const target* machine = nullptr;    ///< layers stay float32 where that is estimated faster there; null: none does
};

/// A layer, and what it costs to store it.
struct layer_result {
  std::string name, op;
  std::int64_t float_bytes = 0, bytes = 0;  ///< of weights, biases and scales
  bool integers = false;
  std::string reason;        ///< of a layer that stays float32
  bool is_surprise = false;  ///< nobody asked for that
  /// Signal to noise in dB: of the outputs when it alone is integers, and when it alone is not; of what it makes.
  double alone = 0, without = 0, own = 0;
};
struct quantize_result {
  std::vector<std::string> notes;  ///< sentences for people
  std::vector<layer_result> layers;
  std::map<std::string, double> outputs;  ///< signal to noise in dB, on samples that show no ranges where there are any
  std::size_t samples = 0, held_out = 0;
  calibration seen;
  overrides chosen;  ///< formats of all layers and ranges of all tensors, by which the same file comes out
};

/// Rewrites the graph of `v` by what `samples` show. Returns what happened: how many layers are integers, which are not
/// and why, and the signal to noise of each output. With a `max_error`, a quarter of the samples are held out, show no
/// ranges, and are what the bound holds on. Refuses names of `kept` that are no layers, networks without a layer,
/// names of `chosen` that nothing has, calibrations of other models, models with states or several rows, networks that
/// integers make no faster on the machine, and bounds that no layer of integers meets.
quantize_result quantize(variant_source& v, const std::vector<sample>& samples, const quantize_choices& how,
                         const std::function<void(const std::string& what, double share)>& progress);

}
