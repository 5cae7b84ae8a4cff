// SPDX-License-Identifier: MIT
#pragma once
/// Which bytes of a file buy what.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/model_file.hpp"

namespace nsk::tool {

/// Adds to a report of nsk::tool::inspect: "bytes", a list of {what, bytes} with the largest first; of a small file
/// {what, stored, bytes}, its size as "file_bytes" and that of the file which it expands to as "prepared_bytes".
void add_file_bytes(nlohmann::json& report, const model_file& file);

/// A line that says, behind `head`, what a small file expands to; nothing of others.
std::string prepared_text(const nlohmann::json& report, const char* head);

/// Which bytes buy what as a line; of a small file two.
std::string file_bytes_text(const nlohmann::json& report);

}
