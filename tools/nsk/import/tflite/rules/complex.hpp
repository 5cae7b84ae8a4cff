// SPDX-License-Identifier: MIT
#pragma once
/// Complex tensors: two values each, real and imaginary parts.
#include "import/tflite/rules/rules.hpp"

namespace nsk::tool::tflite {

/// Whether an input of the operator is complex.
bool reads_complex(const call& c);

/// Translates an operator that moves elements: once for the real parts, once for the imaginary ones. Refuses other
/// operators.
void translate_parts(call& c, const definition& rule);

/// COMPLEX_ABS, REAL, IMAG, and CAST to real numbers.
void part_of_complex(call& c);

}
