// SPDX-License-Identifier: MIT
#pragma once
/// Which bytes of a file buy what.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/model_file.hpp"

namespace nsk::tool {

/// Adds to a report of nsk::tool::inspect: "bytes", a list of {what, bytes} with the largest first; of a small file
/// {what, stored, bytes}, its size as "file_bytes" and that of the file which it expands to as "prepared_bytes".
void add_file_bytes(nlohmann::json& report, const model_file& file);

/// Adds "source_bytes", where it is not 0, to a report of add_file_bytes. Returns what to warn of where the file has
/// more than 1.05 times as many bytes, and 16 kB more: which of them those are, and the cure; empty where it has not.
std::string add_source_bytes(nlohmann::json& report, std::uint64_t source_bytes);

/// ", 0.51 x source" behind the size of a file; empty where the report has no "source_bytes".
std::string source_ratio_text(const nlohmann::json& report);

/// A line that says, behind `head`, what a small file expands to; nothing of others.
std::string prepared_text(const nlohmann::json& report, const char* head);

/// Which bytes buy what as a line; of a small file two.
std::string file_bytes_text(const nlohmann::json& report);

}
