// SPDX-License-Identifier: MIT
#pragma once
/// The command lines of nsk: each function adds a command, whose options are kept in `o`.
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/file_options.hpp"

namespace nsk::tool {

/// Commands that make a .nsk file of a source (conversion_commands.cpp, quantize_options.cpp).
CLI::App* add_convert(CLI::App& app, file_options& files, convert_options& o);
CLI::App* add_quantize(CLI::App& app, file_options& files, quantize_options& o);

/// Commands that look at files and change them (file_commands.cpp).
CLI::App* add_prepare(CLI::App& app, file_options& files, prepare_options& o);
CLI::App* add_inspect(CLI::App& app, file_options& files, inspect_options& o);
CLI::App* add_json(CLI::App& app, file_options& files, json_options& o);
CLI::App* add_from_json(CLI::App& app, file_options& files, from_json_options& o);
CLI::App* add_codegen(CLI::App& app, file_options& files, codegen_options& o);

/// Commands that run models (running_commands.cpp).
CLI::App* add_run(CLI::App& app, file_options& files, run_options& o);
CLI::App* add_check(CLI::App& app, file_options& files, check_options& o);
CLI::App* add_selftest(CLI::App& app, file_options& files, selftest_options& o);
CLI::App* add_bench(CLI::App& app, file_options& files, bench_options& o);
CLI::App* add_profile(CLI::App& app, file_options& files, profile_options& o);

}
