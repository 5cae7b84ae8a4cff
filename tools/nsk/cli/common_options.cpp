// SPDX-License-Identifier: MIT
#include "cli/common_options.hpp"

#include <utility>

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

void add_small(CLI::App* command, bool& small) {
  command->add_flag("--small", small,
                    "Store weights in the bytes of the source; nsk::prepare expands them when the game loads the file");
}

void add_quiet(CLI::App* command, bool& quiet) {
  command->add_flag("--quiet", quiet, "Say nothing unless something is wrong");
}

}
