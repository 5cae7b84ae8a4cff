// SPDX-License-Identifier: MIT
#pragma once
/// Which operators compute in stored integers, which read real numbers beside stored weights, and which do neither.
#include <string>
#include <vector>

#include "import/tflite/file/file.hpp"

namespace nsk::tool::tflite {

/// Looks at every operator that reads or makes stored integers. Weights of 8 or 4 bits for activations in float32
/// ("dynamic range") are marked where they hold the bytes of int8 in a tensor of uint8, as files of TensorFlow 1 do.
/// Returns what a user should know of them: a note, or nothing. Refuses what is not computed as stored, but with
/// `dequantize`; weights that LiteRT reads by another meaning than the file's in either case.
std::string prepare_stored(tflite_file& file, bool dequantize);

}
