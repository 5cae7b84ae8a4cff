// SPDX-License-Identifier: MIT
#pragma once
/// What `run`, `check` and `bench` share with --device.
#include <string>
#include <utility>
#include <vector>

#include "gpu/halves.hpp"

namespace nsk::tool {

/// Misuse where an option is given that --device leaves nothing to do for: pairs of a name and whether it is given.
void refuse_beside_device(const std::vector<std::pair<const char*, bool>>& options);

/// Misuse of 16-bit floats without `required`.
void refuse_without(const std::string& required, bool is_given, const half_options& halves);

/// Misuse of the device that computes nothing; `command` is what would have to show results.
void refuse_null_device(const std::string& device, const char* command);

}
