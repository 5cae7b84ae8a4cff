// SPDX-License-Identifier: MIT
#pragma once
/// The options that nsk convert and nsk quantize share.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/file_options.hpp"

namespace nsk::tool {

/// Adds those of the source (source_options.hpp), of the file that is made of it, and of its check.
void add_conversion_options(CLI::App* command, file_options& files, convert_options& o);

/// Names that --target knows: of machines, and "size".
std::vector<std::string> target_names();
/// Converts for a target: large layers in bands for its caches, narrow weights where they are not slower there, or the
/// fewest bytes.
void take_target(convert_options& o, const std::string& name);

}
