// SPDX-License-Identifier: MIT
#pragma once
/// What rules of convolutions share.
#include <vector>
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

/// The last step of a transposed convolution: binds the image `x`, convolved with the tensor `weights` [out, h, w, in]
/// and with operand `bias`, as output 0. `before` and `after` are cut off the full result; an `after` below 0 adds rows
/// of the bias.
void finish_transposed_convolution(call& c, int x, int weights, std::size_t bias,
                                   const std::vector<std::int64_t>& stride, const std::vector<std::int64_t>& before,
                                   const std::vector<std::int64_t>& after, tfl::Activation a);

}
