// SPDX-License-Identifier: MIT
#pragma once
/// Well-formed damage to ONNX files: messages are taken apart, changed and put together again, so that lengths agree.
#include <cstdint>
#include <vector>
#include "random.hpp"

namespace fuzz {

/// Changes a model in one to four places: numbers, names, whole messages that vanish, repeat or move. Returns bytes
/// that are no model as they are.
std::vector<std::uint8_t> mutate_onnx(const std::vector<std::uint8_t>& model, generator& random);

}
