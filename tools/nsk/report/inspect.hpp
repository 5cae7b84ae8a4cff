// SPDX-License-Identifier: MIT
#pragma once
/// What `nsk inspect` shows of a model.
#include <netsuke/model/model.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nsk::tool {

/// Returns everything that a person asks of a plan: ports, memory, steps with operator, algorithm, shapes, tiles, MACs and bytes, the
/// arena map, the longest tile, and the copies that remain with the converter's reason for each. Sizes are bytes, MACs are counts.
nlohmann::json inspect(const model& m, std::size_t file_bytes);

/// The same as text for a terminal.
std::string inspect_text(const nlohmann::json& report);

/// Returns C++ source: the settings type that lists exactly the operators and functions that the model needs.
std::string settings_source(const model& m);

}
