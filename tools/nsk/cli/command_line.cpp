// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"

#include "engine/engine.hpp"
#include "gpu/device.hpp"

namespace nsk::tool {

CLI::App* command_line::add(const char* name, const char* what, const char* examples, action run) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(std::string("\nExamples:\n") + examples);
  command->get_formatter()->column_width(option_column);
  commands.emplace_back(command, std::move(run));
  return command;
}

CLI::Validator silent(CLI::Validator check) { return check.description(""); }

CLI::Option* add_choice(CLI::App* command, const char* name, std::string& value, const std::vector<std::string>& words,
                        const char* what) {
  return add_value(command, name, value, "HOW", what)->check(silent(CLI::IsMember(words)));
}
CLI::Option* add_choice(CLI::App* command, const char* name, const std::function<void(const std::string&)>& take,
                        const std::vector<std::string>& words, const char* what) {
  return command->add_option_function(name, take, what)->type_name("HOW")->check(silent(CLI::IsMember(words)));
}

void add_repeated(CLI::App* command, const char* name, std::vector<std::string>& values, const char* form,
                  const char* what) {
  add_value(command, name, values, form, what)->allow_extra_args(false);
}

void add_opposite(CLI::App* command, const char* name, bool& value, const char* what) {
  command->add_flag_callback(
      name, [&value] { value = false; }, what);
}

void add_quiet(CLI::App* command, bool& quiet) {
  command->add_flag("--quiet", quiet, "Say nothing unless something is wrong");
}

void add_isa(CLI::App* command, std::string& isa) {
  add_value(command, "--isa", isa, "NAME",
            "Instruction set (" + engine_names() + "); the fastest of this machine when left out");
}
void add_lanes(CLI::App* command, int& lanes) {
  add_value(command, "--lanes", lanes, "N", "Threads, each with its own scratch memory")
      ->check(silent(CLI::Range(1, 256)))
      ->capture_default_str();
}
void add_seconds(CLI::App* command, double& seconds) {
  add_value(command, "--seconds", seconds, "S", "How long to measure")
      ->check(silent(CLI::Range(0.01, 3600.0)))
      ->capture_default_str();
}

void add_device(CLI::App* command, std::string& device, half_options& halves, const char* what, bool with_null) {
  add_value(command, "--device", device, "NAME", what + std::string(" (") + device_names(with_null) + ")");
  add_halves(command, "--device", halves);
}

void add_halves(CLI::App* command, const std::string& with, half_options& halves) {
  command->add_flag("--half-activations", halves.activations,
                    "With " + with + ": 16-bit floats between steps, half the bytes");
  command->add_flag("--half-weights", halves.weights, "With " + with + ": weights of layers are 16-bit floats");
}

void add_variant(CLI::App* command, std::string& variant) {
  add_value(command, "--variant", variant, "NAME", "Name of the variant; the first one where none is given");
}

void add_lengths(CLI::App* command, std::vector<std::string>& lengths) {
  add_repeated(command, "--length", lengths, "NAME=N", "A length of the model; its bound where none is given");
}

}
