// SPDX-License-Identifier: MIT
#pragma once
/// What the options of all commands are made of.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/file_options.hpp"
#include "gpu/halves.hpp"

namespace nsk::tool {

/// Returns a check that says something when it fails, but nothing in the help.
CLI::Validator silent(CLI::Validator check);
/// The column of the help where what an option does begins.
inline constexpr int option_column = 34;
/// Adds a command; `examples` end its help.
CLI::App* add_command(CLI::App& app, const char* name, const char* what, const char* examples);
/// Adds an option that takes one value each time it is given.
void add_repeated(CLI::App* command, const char* name, std::vector<std::string>& values, const char* form,
                  const char* what);
/// Adds a flag that makes `value` false.
void add_opposite(CLI::App* command, const char* name, bool& value, const char* what);
/// Adds --set NAME=VALUE, whose value may be a file.
void add_set(CLI::App* command, file_options& files, std::vector<std::string>& values, const char* what);
void add_quiet(CLI::App* command, bool& quiet);
void add_isa(CLI::App* command, std::string& isa);
void add_lanes(CLI::App* command, int& lanes);
void add_seconds(CLI::App* command, double& seconds);
void add_variant(CLI::App* command, std::string& variant);
/// `with_null`: also the device that computes nothing.
void add_device(CLI::App* command, std::string& device, const char* what, bool with_null);
/// 16-bit floats of the option `with`.
void add_halves(CLI::App* command, const std::string& with, half_options& halves);

}
