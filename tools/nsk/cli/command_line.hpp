// SPDX-License-Identifier: MIT
#pragma once
/// The command line of nsk, and what the options of its commands are made of.
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/file_options.hpp"

namespace nsk::tool {

/// The column of the help where what an option does begins.
inline constexpr int option_column = 34;

/// The commands, in the order of the help.
struct command_line {
  using action = std::function<exit_code(command_files&)>;

  CLI::App& app;
  file_options files = {};
  std::vector<std::pair<const CLI::App*, action>> commands = {};

  /// Adds a command that `run` runs; `examples` end its help.
  CLI::App* add(const char* name, const char* what, const char* examples, action run);
  /// add() of a command with options, which are returned with it.
  template <class Options>
  std::pair<CLI::App*, Options&> add(const char* name, const char* what, const char* examples,
                                     exit_code (*run)(const Options&, command_files&)) {
    const auto o = std::make_shared<Options>();
    return {add(name, what, examples, action([o, run](command_files& files) { return run(*o, files); })), *o};
  }
};

/// Commands that make a .nsk file of a source (conversion_commands.cpp), that look at files and change them
/// (file_commands.cpp), that run models (running_commands.cpp), and for text (text_commands.cpp).
using command_adder = void(command_line& line);
command_adder add_convert, add_quantize;
command_adder add_prepare, add_inspect, add_json, add_from_json, add_codegen, add_operators;
command_adder add_tokenizer, add_tokenize;
command_adder add_run, add_check, add_selftest, add_bench, add_profile;

/// Returns a check that says something when it fails, but nothing in the help.
CLI::Validator silent(CLI::Validator check);
/// Adds an option, whose value the help calls `form`.
template <class T>
CLI::Option* add_value(CLI::App* command, const char* name, T& value, const char* form, const std::string& what) {
  return command->add_option(name, value, what)->type_name(form);
}
/// Adds an option whose value is one of `words`, or which `take` takes.
CLI::Option* add_choice(CLI::App* command, const char* name, std::string& value, const std::vector<std::string>& words,
                        const char* what);
CLI::Option* add_choice(CLI::App* command, const char* name, const std::function<void(const std::string&)>& take,
                        const std::vector<std::string>& words, const char* what);
/// Adds an option that takes one value each time it is given.
void add_repeated(CLI::App* command, const char* name, std::vector<std::string>& values, const char* form,
                  const char* what);
/// Adds a flag that makes `value` false.
void add_opposite(CLI::App* command, const char* name, bool& value, const char* what);
void add_quiet(CLI::App* command, bool& quiet);
void add_isa(CLI::App* command, std::string& isa);
void add_lanes(CLI::App* command, int& lanes);
void add_seconds(CLI::App* command, double& seconds);
void add_variant(CLI::App* command, std::string& variant);
/// --length, for commands that open a .nsk file.
void add_lengths(CLI::App* command, std::vector<std::string>& lengths);
/// Adds --device and its 16-bit floats; `with_null`: also the device that computes nothing.
void add_device(CLI::App* command, std::string& device, half_options& halves, const char* what, bool with_null);
/// 16-bit floats of the option `with`.
void add_halves(CLI::App* command, const std::string& with, half_options& halves);

}
