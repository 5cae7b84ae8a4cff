// SPDX-License-Identifier: MIT
#pragma once
/// A verdict as JSON, and as what `nsk bench --profile` prints.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profile/verdict.hpp"
#include "io/text.hpp"

namespace nsk::tool {

/// Adds expected times and findings to `report["steps"]`, one per step, and the verdict to `report["verdict"]`.
void add_verdict(nlohmann::json& report, const verdict& v, const device_profile& p);

/// Returns the table of expected and measured times, and the verdict in sentences.
std::string verdict_text(const nlohmann::json& report, const text_style& style);

}
