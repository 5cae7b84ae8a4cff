// SPDX-License-Identifier: MIT
#pragma once
/// Text of paths. Paths are UTF-8 in every std::string of the tool, on every system.
#include <filesystem>
#include <string>

namespace nsk::tool {

/// Returns the path that UTF-8 text names.
inline std::filesystem::path path_of(const std::string& text) { return std::filesystem::u8path(text); }

/// Returns a path as UTF-8, with the separators that it has.
inline std::string utf8_of(const std::filesystem::path& path) { return path.u8string(); }

}
