// SPDX-License-Identifier: MIT
#pragma once
/// Layers with a memory on stored integers, in LiteRT's own arithmetic: SVDF with a state of int16, LSTM with outputs
/// of int8 and a cell of int16.
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

/// SVDF whose input is stored. Refuses other types than LiteRT computes.
void filter_stored(call& c);
/// UNIDIRECTIONAL_SEQUENCE_LSTM whose input is stored. Refuses other types than LiteRT computes, and normalised gates.
void lstm_stored(call& c);
/// LiteRT multiplies scales in single precision, from left to right, and so do these.
/// The only scale of a stored tensor of this type; its zero point is 0, or any where that is free. Refuses others.
float own_scale(call& c, int t, tfl::TensorType type, bool any_zero);

}
