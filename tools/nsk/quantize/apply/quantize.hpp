// SPDX-License-Identifier: MIT
#pragma once
/// A float network as one of stored integers: ranges from samples, weights and biases as integers, and pairs of
/// QuantizeLinear and DequantizeLinear around each layer, which become layers of integers (resolve/infer.hpp).
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "compile/compile.hpp"
#include "quantize/calibrate/calibrate.hpp"
#include "quantize/integer_ports.hpp"
#include "quantize/layers.hpp"
#include "quantize/apply/metric.hpp"
#include "quantize/calibrate/ranges.hpp"
#include "quantize/calibrate/seen_numbers.hpp"
#include "quantize/calibrate/tables.hpp"
#include "quantize/choose/targets.hpp"
#include "quantize/weights.hpp"

namespace nsk::tool {

/// How far the network may be from its source.
enum class drop_measure {
  error,   ///< root of the mean square of the error over that of the output, of the worst output
  sqnr,    ///< signal to noise of the worst output in dB, at least
  top1,    ///< share of the samples whose largest element is another one
  metric,  ///< a program's number for the float network less that for the quantised one
};
const char* name_of(drop_measure m);
struct drop_bound {
  drop_measure by = drop_measure::error;
  double limit = 0;
  metric_program metric;
};

/// By what channels between layers are made alike.
enum class equalization { none, weights, activations };

struct quantize_choices {
  range_method ranges = range_method::mse;
  weight_choices weights;
  equalization equalizes = equalization::none;  ///< channels between layers
  bool corrects_bias = true;                    ///< biases take what rounded weights change of the mean
  std::set<std::string> kept;                   ///< names of nodes that stay as they are
  std::optional<drop_bound> bound;              ///< that layers return to floats for
  bool halves = false;  ///< layers that are not integers have float16 weights where that is exact enough
  std::vector<std::string> sample_files;  ///< what the samples were read from
  bool measures = false;                  ///< how much each layer costs
  overrides chosen;                       ///< before all other choices
  const calibration* seen = nullptr;      ///< what samples showed before; those that are given then only measure
  const target* machine = nullptr;        ///< layers stay float32 where that is estimated faster there; null: none does
  std::map<std::string, element>
      integer_ports;  ///< inputs and outputs that are u8 or i8, by the scales of their tensors
};

/// Milliseconds that a network is expected to take on one lane, before and after.
struct expected_time {
  double before, after;
  std::string how;  ///< "pc (AVX2 without VNNI) at 3.5 GHz, layers and what is between them"
};

/// A layer, and what it costs to store it.
struct layer_result {
  std::string name, op;
  std::int64_t weight_count = 0, bias_count = 0;
  std::int64_t float_bytes = 0, int8_bytes = 0;  ///< of weights, biases and scales
  layer_format format = layer_format::float32;
  std::string reason;        ///< of a layer that is not int8
  std::string no_halves;     ///< why it is not fp16, where that was asked for
  bool is_surprise = false;  ///< no option asked for that
  bool is_int8() const { return format == layer_format::int8; }
  /// Bytes of the format that it has.
  std::int64_t stored_bytes() const;
  /// Signal to noise in dB: of the outputs when it alone is integers, and when it alone is not; of what it makes.
  double alone = 0, without = 0, own = 0;
  seen_numbers weights;          ///< of the graph; the range is that of the channel with the largest one
  double min_channel_range = 0;  ///< magnitude that the channel with the smallest range reaches
};
/// What --max-drop reached on samples that were held out.
struct bound_result {
  drop_measure by;
  double limit, reached;
  std::string said;  ///< "the outputs are off by 0.02 of their magnitude"
};

struct quantize_result {
  std::vector<std::string> notes;  ///< sentences for people
  std::vector<layer_result> layers;
  std::map<std::string, double> outputs;  ///< signal to noise in dB, on samples that show no ranges where there are any
  std::size_t samples = 0, held_out = 0;
  calibration seen;
  std::vector<seen_numbers> tensors;    ///< results of layers and what else is stored, in order; if measured
  std::vector<other_product> others;    ///< products with weights that are no layers
  std::vector<expected_time> expected;  ///< if measured
  std::size_t equalized = 0;            ///< pairs of layers
  std::optional<bound_result> bound;
  float_storage floats;               ///< how layers that are not integers are stored
  std::vector<std::byte> float_file;  ///< the source as a .nsk file; if measured
  overrides chosen;  ///< formats of all layers and ranges of all tensors, by which the same file comes out
  std::map<std::string, stored_port> ports;  ///< inputs and outputs that are stored integers
};

/// Rewrites the graph of `v` by what `samples` show. Returns what happened: how many layers are integers, which are not
/// and why, and the signal to noise of each output. With a `bound`, a quarter of the samples are held out, show no
/// ranges, and are what the bound holds on. Refuses names of `kept` that are no layers, networks without a layer,
/// names of `chosen` that nothing has, calibrations of other models, networks that integers make no faster on the
/// machine, also with what a bound leaves, and bounds that no layer of integers meets. Samples of a model with states
/// are one sequence of runs, of which no bound can hold some out.
quantize_result quantize(variant_source& v, const std::vector<sample>& samples, const quantize_choices& choices,
                         const std::function<void(const std::string& what, double share)>& progress);

/// Rewrites a graph of the same source for other shapes by what quantize() found with the same choices: the same layers
/// are integers, by the same scales. Refuses channels that are made alike by what samples show.
void quantize_alike(graph& g, const std::vector<state_link>& states, const quantize_result& found,
                    const quantize_choices& choices);

}
