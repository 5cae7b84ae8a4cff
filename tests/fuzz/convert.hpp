// SPDX-License-Identifier: MIT
#pragma once
/// The converter in memory: what `nsk convert` does between reading and writing.
#include <cstddef>
#include <cstdint>

namespace fuzz {

enum class source { onnx, tflite };

/// Imports, resolves and compiles a model, and opens the result as a game would. Returns whether there was one; the
/// others were refused. Ends the program where a refusal is not the converter's own, says nothing, or holds control
/// characters, and where the result does not open.
bool convert(const std::uint8_t* data, std::size_t size, source from);

}
