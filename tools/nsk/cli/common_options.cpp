// SPDX-License-Identifier: MIT
#include "cli/common_options.hpp"

#include <utility>

#include "engine/engine.hpp"
#include "gpu/device.hpp"

namespace nsk::tool {

CLI::Validator silent(CLI::Validator check) { return check.description(""); }

CLI::App* add_command(CLI::App& app, const char* name, const char* what, const char* examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(std::string("\nExamples:\n") + examples);
  command->get_formatter()->column_width(option_column);
  return command;
}

void add_repeated(CLI::App* command, const char* name, std::vector<std::string>& values, const char* form,
                  const char* what) {
  command->add_option(name, values, what)->type_name(form)->allow_extra_args(false);
}

void add_set(CLI::App* command, file_options& files, std::vector<std::string>& values, const char* what) {
  files.reads(command, "--set", values, "NAME=VALUE", what);
}

void add_opposite(CLI::App* command, const char* name, bool& value, const char* what) {
  command->add_flag_callback(
      name, [&value] { value = false; }, what);
}

void add_quiet(CLI::App* command, bool& quiet) {
  command->add_flag("--quiet", quiet, "Say nothing unless something is wrong");
}

void add_isa(CLI::App* command, std::string& isa) {
  command
      ->add_option("--isa", isa, "Instruction set (" + engine_names() + "); the fastest of this machine when left out")
      ->type_name("NAME");
}
void add_lanes(CLI::App* command, int& lanes) {
  command->add_option("--lanes", lanes, "Threads, each with its own scratch memory")
      ->type_name("N")
      ->check(silent(CLI::Range(1, 256)))
      ->capture_default_str();
}
void add_seconds(CLI::App* command, double& seconds) {
  command->add_option("--seconds", seconds, "How long to measure")
      ->type_name("S")
      ->check(silent(CLI::Range(0.01, 3600.0)))
      ->capture_default_str();
}

void add_device(CLI::App* command, std::string& device, const char* what, bool with_null) {
  command->add_option("--device", device, what + std::string(" (") + device_names(with_null) + ")")->type_name("NAME");
}

void add_halves(CLI::App* command, const std::string& with, half_options& halves) {
  command->add_flag("--half-activations", halves.activations,
                    "With " + with + ": 16-bit floats between steps, half the bytes");
  command->add_flag("--half-weights", halves.weights, "With " + with + ": weights of layers are 16-bit floats");
}

void add_variant(CLI::App* command, std::string& variant) {
  command->add_option("--variant", variant, "Name of the variant; the first one where none is given")
      ->type_name("NAME");
}

}
