// SPDX-License-Identifier: MIT
#pragma once
/// Layers with a memory on stored integers, in LiteRT's own arithmetic: SVDF with a state of int16.
#include "import/tflite/call.hpp"

namespace nsk::tool::tflite {

/// SVDF whose input is stored. Refuses other types than LiteRT computes.
void filter_stored(call& c);

}
