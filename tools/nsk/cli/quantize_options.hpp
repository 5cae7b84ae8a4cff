// SPDX-License-Identifier: MIT
#pragma once
/// The command line of nsk quantize.
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/file_options.hpp"

namespace nsk::tool {

/// Adds the command, whose options are kept in `o`.
CLI::App* add_quantize(CLI::App& app, file_options& files, quantize_options& o);

}
