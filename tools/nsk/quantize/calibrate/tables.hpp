// SPDX-License-Identifier: MIT
#pragma once
/// What nsk quantize keeps in files: what samples showed, and what was chosen, which a person may edit.
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <netsuke/format/params.hpp>
#include "quantize/calibrate/calibrate.hpp"

namespace nsk::tool {

/// What samples showed of a network.
struct calibration {
  std::uint64_t model = 0;  ///< hash_of() its graph
  std::size_t samples = 0;
  std::map<std::string, tensor_statistics> tensors;
};

/// Returns a number that differs where names, operators, constants or shapes of two graphs do.
std::uint64_t hash_of(const graph& g);

/// Returns the calibration as JSON: each tensor with its histogram.
std::string calibration_json(const calibration& c);
/// Returns what calibration_json() wrote. Refuses damaged files; `path` is their name in messages.
calibration calibration_from(const std::string& text, const std::string& path);

/// How the weights of a layer are stored.
enum class layer_format { int8, fp16, float32 };
const char* name_of(layer_format f);

/// Choices for single layers and tensors (--override).
struct overrides {
  std::map<std::string, layer_format> layers;
  std::map<std::string, std::array<double, 2>> ranges;  ///< by tensor: least and largest number, 0 between them
  std::map<std::string, conv_algorithm> algorithms;     ///< of convolutions, by the name that their steps have
  std::set<std::string> of_format(layer_format wanted) const {
    std::set<std::string> names;
    for (const auto& [name, format] : layers)
      if (format == wanted) names.insert(name);
    return names;
  }
};

/// Returns formats and ranges as JSON: {"layers": {NAME: "int8", "fp16" or "float32"}, "ranges": {NAME: [LOW, HIGH]}}.
std::string overrides_json(const overrides& o);
/// Returns choices that a person gives: what overrides_json() writes, and {NAME: {"algorithm": "direct", "winograd2" or
/// "winograd4"}} beside it. Refuses everything else, by its place.
overrides overrides_from(std::string_view text, const std::string& path);

}
