// SPDX-License-Identifier: MIT
#pragma once
/// What the options of all commands are made of.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nsk::tool {

/// Returns a check that says something when it fails, but nothing in the help.
CLI::Validator silent(CLI::Validator check);
/// Adds a command; `examples` end its help.
/// The column of the help where what an option does begins.
inline constexpr int option_column = 34;
CLI::App* add_command(CLI::App& app, const char* name, const char* what, const char* examples);
/// Adds an option that takes one value each time it is given.
void add_repeated(CLI::App* command, const char* name, std::vector<std::string>& values, const char* form,
                  const char* what);
void add_quiet(CLI::App* command, bool& quiet);
/// Of commands that convert.
void add_small(CLI::App* command, bool& small);

}
