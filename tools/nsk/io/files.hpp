// SPDX-License-Identifier: MIT
#pragma once
/// Whole files in. Every failure is a tool error that names the file, the reason and the cure. new_files.hpp writes.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nsk::tool {

/// Bytes of the largest files that are read, by what they are.
inline constexpr std::uint64_t max_model_bytes = std::uint64_t{1} << 33, max_array_bytes = std::uint64_t{1} << 33,
                               max_pipe_bytes = std::uint64_t{1} << 28;

/// Returns the bytes of a file. Refuses what is missing, unreadable, a directory, a device, larger than `maximum`
/// bytes, or a pipe that gives more than max_pipe_bytes or nothing for ten seconds. `what` names its role: "model",
/// "input".
std::vector<std::byte> read_file(const std::string& path, std::string_view what, std::uint64_t maximum);

/// Returns the path of a file that a model names: one in `folder` or below it. Refuses other places, absolute paths,
/// and what is no file; `what` begins the message: "initializer 'w': external data".
std::filesystem::path file_inside(const std::filesystem::path& folder, const std::string& name,
                                  const std::string& what);

/// File systems take 255 bytes; the rest is for numbers, endings, and the names of files that are being written.
inline constexpr std::size_t max_file_name = 200;
/// Returns the first max_file_name characters of `name`, with every one outside A-Za-z0-9_.- replaced by '_'.
std::string file_name_of(const std::string& name);

}
