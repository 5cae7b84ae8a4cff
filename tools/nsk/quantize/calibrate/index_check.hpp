// SPDX-License-Identifier: MIT
#pragma once
/// Indices that samples give.
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "quantize/calibrate/samples.hpp"

namespace nsk::tool {

/// Refuses samples with an index beyond the axis that Gather and its relatives read by it: engine and evaluator would
/// take the nearest element, and no such sample is what the model was trained on. Looks at indices that follow from
/// inputs without convolutions and products. `files` are what the samples were read from; `g` is resolved.
void require_indices(const graph& g, const std::vector<sample>& samples, const std::vector<std::string>& files);

}
