// SPDX-License-Identifier: MIT
#pragma once
/// Short names for people of what inspect() reports.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nsk::tool {

/// "[1,56,56,24]".
std::string shape_text(const nlohmann::json& shape);
/// "56x56x24": with `times` between the lengths, without those of 1 at the front.
std::string size_text(const nlohmann::json& shape, const char* times);
/// "conv 3x3 /2", "max pool 3x3", "add": what a step does, without what follows it.
std::string operation_text(const nlohmann::json& step);
/// "winograd4 clip +add": how it does it and what follows; may be empty.
std::string details_text(const nlohmann::json& step);
/// Names of steps as short as they stay apart: the first of several fused nodes, without the path that all of them
/// share.
std::vector<std::string> short_names(const nlohmann::json& steps);

}
