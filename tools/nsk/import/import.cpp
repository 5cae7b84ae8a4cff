// SPDX-License-Identifier: MIT
#include "import/import.hpp"

#include "io/files.hpp"
#include "errors.hpp"
#include "import/json/import.hpp"
#include "import/onnx/import.hpp"
#include "io/looks_like.hpp"
#include "io/system/paths.hpp"

namespace nsk::tool {

graph import_model(const std::string& file, const tflite_options& options) {
  const std::vector<std::byte> bytes = read_file(file, "model", max_model_bytes);
  if (const std::string other = no_source_model(bytes.data(), bytes.size()); !other.empty())
    refuse("'" + file + "' " + other + ".");
  if (is_tflite(bytes.data(), bytes.size())) return import_tflite(bytes.data(), bytes.size(), file, options);
  if (!options.signature.empty())
    misuse("--signature chooses a function of a TensorFlow Lite model, and '" + file + "' is none.");
  if (is_json(bytes.data(), bytes.size())) return import_json(bytes.data(), bytes.size(), file);
  return import_onnx(bytes.data(), bytes.size(), path_of(file).parent_path(), file, options.outputs);
}

}
