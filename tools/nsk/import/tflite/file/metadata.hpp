// SPDX-License-Identifier: MIT
#pragma once
/// What a TensorFlow Lite model says of itself (its entry TFLITE_METADATA, and the files that are packed behind it).
#include "graph/facts.hpp"
#include "import/tflite/file/file.hpp"

namespace nsk::tool {

/// Reads texts, labels and normalisation of the main subgraph's inputs and outputs. Nothing of it changes the network,
/// so that what is damaged, contradictory or too large is left out with a warning: texts that are no UTF-8 or longer
/// than 4096 bytes, labels of another number than the output's last axis has, more than 16 MiB of labels.
model_facts tflite_facts(const tflite_file& file, const std::byte* bytes);

}
