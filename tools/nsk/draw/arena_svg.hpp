// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nsk::tool {

/// Draws the arena of a model's first variant over time: steps to the right, bytes upwards, a rectangle per buffer with
/// its lifetime, the step at which most bytes are in use, and below them the work of each step. `report` is what
/// inspect() returns.
std::string arena_svg(const nlohmann::json& report);

}
