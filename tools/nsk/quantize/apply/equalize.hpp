// SPDX-License-Identifier: MIT
#pragma once
/// Channels between two layers, made alike before they share one scale (M. Nagel and others, "Data-Free Quantization
/// Through Weight Equalization and Bias Correction", ICCV 2019).
#include <cstddef>
#include <functional>
#include <string>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// The largest magnitude of each channel of the tensors with these names, on samples.
using channel_magnitudes = std::function<std::vector<std::vector<double>>(const std::vector<std::string>& names)>;

/// Multiplies the weights of a layer for an output channel by a power of two, and those that read this channel in the
/// next layer by its inverse, so that the channels that are stored between them, and the weights that read them, reach
/// equally far. What is between two layers is read by nothing else and has f(s x) = s f(x) for s > 0: nothing, Relu,
/// LeakyRelu, PRelu, pooling. The network computes the same numbers: a channel whose weights
/// would not stay exact is left alone. With `measured`, channels
/// reach as far as it says; without, as the largest weight that makes them. Returns how many pairs of layers changed.
std::size_t equalize(graph& g, const channel_magnitudes& measured);

}
