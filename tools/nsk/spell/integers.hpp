// SPDX-License-Identifier: MIT
#pragma once
/// Windows and sizes of 8- and 16-bit integers, outside of QuantizeLinear and DequantizeLinear.
#include "spell/speller.hpp"

namespace nsk::tool {

/// Whether the node is MaxPool, Resize or Upsample of such integers, which are computed at run time.
bool computes_integers(const graph& g, const node& n);

/// Writes it with casts around it: float32 holds every such number, the largest of some is one of them, and linear
/// sizes lose their fraction as in ONNX Runtime. Refuses cubic and antialiased sizes.
void write_with_floats(speller& s);

}
