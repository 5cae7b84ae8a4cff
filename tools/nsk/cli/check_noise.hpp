// SPDX-License-Identifier: MIT
#pragma once
/// nsk check of files that are not meant to compute the very numbers of their source: signal to noise in dB.
#include "cli/commands.hpp"
#include "engine/engine.hpp"
#include "engine/model_file.hpp"
#include "graph/graph.hpp"

namespace nsk::tool {

/// Compares a variant of a file with its source `g`, resolved and changed as the file was, on the inputs that are given
/// and random ones. Prints the noise of each output, and writes --json. Fails with check_failed where one is below
/// --min-db. Refuses --report, and inputs of other shapes and types.
exit_code check_noise(const check_options& o, const graph& g, const model_file& file, int variant, runner& r,
                      command_files& files);

}
