// SPDX-License-Identifier: MIT
#include "cli/device_options.hpp"

#include "errors.hpp"

namespace nsk::tool {

void refuse_beside_device(const std::vector<std::pair<const char*, bool>>& options) {
  for (const auto& [name, given] : options)
    if (given) misuse(std::string(name) + " has no meaning beside --device. Leave one of them out.");
}

void refuse_without(const std::string& required, bool is_given, const half_options& halves) {
  if (halves.any() && !is_given)
    misuse(halves.options() + ": this is for the GPU and needs " + required + ". Give both, or leave it out.");
}

void refuse_null_device(const std::string& device, const char* command) {
  if (device == "null")
    misuse(std::string("--device null computes nothing, so that ") + command +
           " has no results. It is for bench, which shows what recording takes.");
}

}
