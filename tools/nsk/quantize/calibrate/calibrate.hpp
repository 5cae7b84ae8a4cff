// SPDX-License-Identifier: MIT
#pragma once
/// What tensors of a float network hold on samples, as the engine computes them.
#include <functional>
#include <map>
#include <string>
#include <vector>
#include "compile/compile.hpp"
#include "quantize/narrow_weights.hpp"
#include "graph/graph.hpp"
#include "quantize/calibrate/ranges.hpp"
#include "quantize/calibrate/samples.hpp"

namespace nsk::tool {

/// Returns the axis of a tensor's channels: 1 where it has more than two, else the last one.
inline std::size_t channel_axis(const shape_t& s) { return s.size() > 2 ? 1 : s.size() - 1; }

/// What was seen of one tensor.
struct tensor_statistics {
  histogram values;
  std::size_t axis = 0;              ///< that of the channels
  std::vector<double> channel_sums;  ///< one where their number differs from sample to sample
  std::uint64_t per_channel = 0;     ///< numbers that each of the sums has
  double mean(std::size_t channel) const { return channel_sums[channel] / static_cast<double>(per_channel); }
};

/// Makes values outputs of a graph, where they are none.
void add_outputs(graph& g, const std::vector<value_id>& ids);
/// Makes the values of these names outputs, for all lengths of a variant.
void watch(variant_source& v, const std::vector<std::string>& names);

/// Runs `v` on all samples with all cores, and looks at values of its graph, by name; `axes` says where each has its
/// channels. Refuses tensors that are not finite, naming tensor and sample, which was read from one of `files`.
std::map<std::string, tensor_statistics> calibrate(const variant_source& v,
                                                   const std::map<std::string, std::size_t>& axes,
                                                   const std::vector<sample>& samples,
                                                   const std::vector<std::string>& files,
                                                   const std::function<void(double share)>& progress);

/// The largest magnitude of each channel of the values `names` on the samples.
std::vector<std::vector<double>> channel_magnitudes_of(const variant_source& v, const std::vector<std::string>& names,
                                                       const std::vector<sample>& samples);

/// How weights of layers that are not integers are stored.
struct float_storage {
  bool halves = false;       ///< as float16 where narrow_weights.hpp takes them
  kept_layers float32 = {};  ///< nodes that keep float32 all the same, each with the reason
};
/// The .nsk file of a network, at the bounds of its lengths, whose floats are stored so; `v` becomes what it means,
/// with rounded weights.
std::vector<std::byte> compile_as(variant_source& v, const float_storage& floats);

/// How far a network is from its source.
struct output_noise {
  /// Signal to noise of each output in dB: 10 log10 of the squares of the outputs over the squares of the differences;
  /// 200 where nothing differs, -200 where there is no signal, or where only one of them is finite.
  std::map<std::string, double> outputs;
  /// Share of the samples on which the largest element of any output is another one, or on which another number of
  /// elements is NaN.
  double other_class = 0;
  double lowest() const;
};

/// Measures how far variants of a network are from it.
class noise_meter {
 public:
  /// Runs `exact` on the samples and keeps its outputs.
  noise_meter(const variant_source& exact, std::vector<sample> samples);

  output_noise compare(const variant_source& quantised, const float_storage& floats = {}) const;
  /// The outputs of a network on all samples, and those of `exact`.
  std::vector<sample> run(const variant_source& quantised, const float_storage& floats) const;
  const std::vector<sample>& wanted() const { return m_wanted; }

 private:
  std::vector<sample> m_samples, m_wanted;
};

}
