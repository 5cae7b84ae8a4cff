// SPDX-License-Identifier: MIT
#pragma once
/// `nsk quantize` in memory.
#include <cstddef>
#include <cstdint>

namespace fuzz {

/// Imports and resolves an ONNX model, quantises it by random choices on random samples, some of them hostile, and
/// opens the result; then once more by the calibration and the choices that this wrote, as text in which numbers have
/// been changed. Models that take long to run are left out. Some results run and are compared with the evaluator.
/// Returns whether there was a file; the others were refused. Ends the program as convert() does, and where the engine
/// computes another integer than the evaluator.
bool quantize(const std::uint8_t* data, std::size_t size);

}
