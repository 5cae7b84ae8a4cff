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

/// Names of the machines that --target knows.
std::vector<std::string> target_names();

}
