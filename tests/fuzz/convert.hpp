// SPDX-License-Identifier: MIT
#pragma once
/// The converter in memory: what `nsk convert` and `nsk quantize` do between reading and writing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "random.hpp"

namespace fuzz {

/// Random numbers that are the same for the same bytes: what a command line says beside them.
generator choices_of(const std::uint8_t* data, std::size_t size);

/// Ends the program with a sentence.
[[noreturn]] void give_up(const std::string& why);

/// Ends the program where a refusal says nothing, or holds control characters.
void check_message(const std::string& message);

/// Opens the file as a game would; ends the program where that fails.
void open_result(const std::vector<std::byte>& file);

enum class source { onnx, tflite };

/// Imports, resolves and compiles a model, with integers as they are or as floats, with weights of any format, and
/// opens the result as a game would; expands it too, where it is made a small file. Returns whether there was one; the
/// others were refused. Ends the program where a refusal is not the converter's own, says nothing, or holds control
/// characters, and where the result does not open or a small file does not expand to the same bytes.
bool convert(const std::uint8_t* data, std::size_t size, source from);

}
