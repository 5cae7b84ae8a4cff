// SPDX-License-Identifier: MIT
#pragma once
/// Short names for people of what inspect() reports.
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nsk::tool {

/// "[1,56,56,24]".
std::string shape_text(const nlohmann::json& shape);
/// "conv 3x3 /2", "max pool 3x3", "add": what a step does, without what follows it.
std::string operation_text(const nlohmann::json& step);
/// "winograd4 clip +residual": how it does it and what follows; may be empty.
std::string details_text(const nlohmann::json& step);

}
