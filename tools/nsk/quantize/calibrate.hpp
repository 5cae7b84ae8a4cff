// SPDX-License-Identifier: MIT
#pragma once
/// What tensors of a float network hold on samples, as the engine computes them.
#include <functional>
#include <map>
#include <string>
#include <vector>
#include "compile/compile.hpp"
#include "graph/graph.hpp"
#include "quantize/ranges.hpp"
#include "quantize/samples.hpp"

namespace nsk::tool {

/// Returns the axis of a tensor's channels: 1 where it has more than two, else the last one.
inline std::size_t channel_axis(const shape_t& s) { return s.size() > 2 ? 1 : s.size() - 1; }

/// What was seen of one tensor.
struct tensor_statistics {
  histogram values;
  std::vector<double> channel_sums;  ///< by axis 1, of tensors with so many axes; else by the last one
  std::uint64_t per_channel = 0;     ///< numbers that each of the sums has
  double mean(std::size_t channel) const { return channel_sums[channel] / static_cast<double>(per_channel); }
};

/// Runs `v` on all samples with all cores, and looks at `names`, values of its graph. Refuses tensors that are not
/// finite, naming tensor and sample.
std::map<std::string, tensor_statistics> calibrate(const variant_source& v, const std::vector<std::string>& names,
                                                   const std::vector<sample>& samples,
                                                   const std::function<void(double share)>& progress);

/// Measures how far variants of a network are from it.
class noise_meter {
 public:
  /// Runs `exact` on the samples and keeps its outputs.
  noise_meter(const variant_source& exact, std::vector<sample> samples);

  /// Signal to noise of each output of `quantised`, in dB: 10 log10 of the squares of the outputs over the squares of
  /// the differences; 200 where nothing differs, -200 where there is no signal, or where only one of them is finite.
  std::map<std::string, double> outputs_of(const variant_source& quantised) const;
  /// The lowest of them.
  double lowest_of(const variant_source& quantised) const;

 private:
  std::vector<sample> m_samples, m_wanted;
};

}
