// SPDX-License-Identifier: MIT
#pragma once
/// Functions that a TensorFlow Lite file offers: names of subgraphs.
#include <string>

#include "graph/facts.hpp"
#include "import/tflite/file/file.hpp"

namespace nsk::tool::tflite {

/// Returns the subgraph of a signature: the first one where `wanted` is empty. Refuses names that the file lacks,
/// listing those that it has, and signatures of subgraphs that do not exist. `name` is what messages call the file.
int subgraph_of_signature(const tfl::Model& m, const std::string& wanted, const std::string& name);

/// Notes the signatures beside the one that is read, with the option that takes them, and warns of subgraphs that
/// nothing names.
void report_signatures(const tflite_file& file, model_facts& facts);

}
