// SPDX-License-Identifier: MIT
#pragma once
/// Names what a file is by its first bytes, for messages about files that are not what they should be.
#include <cstddef>
#include <string>

namespace nsk::tool {

/// Returns "it is empty", "it looks like a PNG image", ..., or "unknown bytes 00 01 02 03".
std::string looks_like(const std::byte* bytes, std::size_t size);

/// Returns "is a JPEG image, no source model. CURE" for a file that is known to be something else than a model of ONNX,
/// TensorFlow Lite or JSON; "" for others.
std::string no_source_model(const std::byte* bytes, std::size_t size);

}
