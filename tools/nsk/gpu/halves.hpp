// SPDX-License-Identifier: MIT
#pragma once
/// What a device stores as 16-bit floats: --half-activations and --half-weights.
#include <string>

namespace nsk::tool {

struct half_options {
  bool activations = false, weights = false;  ///< as in gpu::plan_settings
  bool any() const { return activations || weights; }
  /// "--half-activations", "--half-weights", or both.
  std::string options() const {
    return std::string(activations ? "--half-activations" : "") + (activations && weights ? " " : "") +
           (weights ? "--half-weights" : "");
  }
};

}
