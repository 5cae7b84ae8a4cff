// SPDX-License-Identifier: MIT
#pragma once
/// Winograd's weights of 3x3 convolutions, in two steps: kernels as panels of float32, and what the engine multiplies
/// with, made of these numbers (transform_taps.hpp).
#include <cstdint>
#include <vector>
#include <netsuke/format/params.hpp>

namespace nsk::tool {

/// weights [outputs][inputs][3][3] and biases, rounded to float32: panels of depth 9 * inputs, in the order input,
/// kernel row, kernel column.
std::vector<float> pack_kernels(std::int64_t outputs, std::int64_t inputs, const std::vector<double>& weights,
                                const std::vector<double>& bias);

/// Panels of kernels transformed for F(4x4, 3x3) or F(2x2, 3x3): winograd_floats(algorithm, outputs, inputs) floats.
std::vector<float> transform_kernels(conv_algorithm algorithm, std::int64_t outputs, std::int64_t inputs,
                                     const std::vector<float>& kernels);

}
