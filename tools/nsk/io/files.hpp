// SPDX-License-Identifier: MIT
#pragma once
/// Whole files in and out. Every failure is a tool error that names the file, the reason and the cure.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nsk::tool {

/// Returns the bytes of a file. Refuses what is missing, unreadable, or a directory. `what` names its role: "model",
/// "input".
std::vector<std::byte> read_file(const std::string& path, std::string_view what);

/// Writes a file in one piece: to a temporary file beside it, renamed when complete; on failure nothing is left behind
/// and an older file is untouched. Devices and pipes are written directly.
void write_file(const std::string& path, const void* data, std::size_t bytes);
inline void write_file(const std::string& path, std::string_view text) { write_file(path, text.data(), text.size()); }

/// Makes the directory, and those above it, unless it exists.
void make_directory(const std::string& path);

/// Returns `name` with every character outside A-Za-z0-9_.- replaced by '_'.
std::string file_name_of(const std::string& name);

}
