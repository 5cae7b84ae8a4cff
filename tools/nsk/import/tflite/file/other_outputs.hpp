// SPDX-License-Identifier: MIT
#pragma once
/// Other outputs than those of the file.
#include <string>
#include <vector>

#include "import/tflite/file/file.hpp"

namespace nsk::tool::tflite {

/// Returns the file with the tensors that `names` lists as outputs of the graph that is converted, and with the
/// operators that these and the variables need. Where the graph lacks one of the names, nothing is left out, and the
/// tensors that it has become outputs beside its own.
tflite_file with_outputs(const tflite_file& file, const std::vector<std::string>& names);

}
