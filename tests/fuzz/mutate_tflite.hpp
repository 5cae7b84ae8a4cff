// SPDX-License-Identifier: MIT
#pragma once
/// Damage to TensorFlow Lite files that leaves their tables well formed: numbers are changed where they are.
#include <cstdint>
#include <vector>
#include "random.hpp"

namespace fuzz {

/// Changes a model in one to four places: fields of tables, elements and lengths of lists, which option table an
/// operator has. Damages bytes at random where the model's tables are broken already.
std::vector<std::uint8_t> mutate_tflite(const std::vector<std::uint8_t>& model, generator& random);

}
