// SPDX-License-Identifier: MIT
#pragma once
/// Operators on stored bytes in the roundings of LiteRT's default path: XNNPACK where that has a kernel for the
/// operator, else TensorFlow Lite's own. What is no case of theirs stays with the rules on real numbers, which are at
/// most one step away.
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

/// Each makes output 0 of the operator and returns true, or does nothing and returns false.
bool add_stored(call& c, tfl::Activation a);  ///< ADD, SUB and MUL
bool average_stored(call& c, const attributes& window, std::int64_t taps, tfl::Activation a);
bool mean_stored(call& c, const std::vector<std::int64_t>& axes, bool keeps_axes, bool images);
/// RESIZE_BILINEAR with these attributes of a Resize.
bool resize_stored(call& c, attributes resize, const std::vector<std::int64_t>& sizes);
/// PRELU with constant slopes, one for each channel or one.
bool prelu_stored(call& c);
/// QUANTIZE, RELU and its kin, LEAKY_RELU, HARD_SWISH.
bool function_of_stored(call& c);

}
