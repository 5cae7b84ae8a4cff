// SPDX-License-Identifier: MIT
// The nsk command line: options in, exit code out. 0 good, 1 usage, 2 input refused, 3 numeric check failed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <netsuke/version.hpp>

#include "cli/command_line.hpp"
#include "io/system/program.hpp"
#include "suggest.hpp"

namespace {
using namespace nsk::tool;

/// Options under names that the next release does not have.
struct deprecated_option {
  const char *command, *old_name, *new_name;
};

constexpr deprecated_option deprecated_options[] = {
    {"convert", "--exact", "--no-winograd"},
    {"quantize", "--overrides", "--override"},
    {"quantize", "--calibration", "--calibrate"},
};

/// Returns the words of a command line, the command first, with today's names in place of deprecated ones. Says on
/// standard error which of them to write.
std::vector<std::string> without_deprecated(std::vector<std::string> words) {
  for (const deprecated_option& d : deprecated_options) {
    if (words.empty() || words.front() != d.command) continue;
    const std::string old_name = d.old_name;
    for (std::string& word : words) {
      if (word.substr(0, word.find('=')) != old_name) continue;
      word.replace(0, old_name.size(), d.new_name);
      std::fprintf(stderr, "nsk: warning: %s is deprecated and goes with the next release: write %s.\n", d.old_name,
                   d.new_name);
    }
  }
  return words;
}

/// Names as they are written, "--check" and "-o".
std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : o->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string about_command(const CLI::App& app, const char* word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  std::string text = word == nullptr || *word == '-' ? "a command must come first." : "";
  if (text.empty()) text = "there is no command '" + std::string(word) + "'." + did_you_mean(word, names);
  return text + " The commands: " + quoted(names) + "; `nsk --help` tells what they do.";
}

/// The word before "=" where it is an option, else nothing.
std::string option_in(const std::string& word) {
  return word.size() > 1 && word[0] == '-' ? word.substr(0, word.find('=')) : std::string();
}

std::string about_option(const CLI::App& app, const CLI::App& command, const std::string& option) {
  const std::vector<std::string> own = options_of(command);
  if (std::find(own.begin(), own.end(), option) != own.end())
    return "the option '" + option + "' belongs behind the command.";
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> names = options_of(*other);
    if (nearest(option, own).empty() && std::find(names.begin(), names.end(), option) != names.end())
      return "there is no option '" + option + "' here; 'nsk " + other->get_name() + "' has one.";
  }
  return "there is no option '" + option + "'." + did_you_mean(option, own);
}

/// Returns a message for a command line that `app` refused with `why`: the command, the word at fault, the command or
/// option that was probably meant, and where more is explained. `first` is the first word of the command line, or null.
std::string usage_message(const CLI::App& app, const CLI::ParseError& why, const char* first) {
  const auto chosen = app.get_subcommands([](const CLI::App* a) { return a->parsed(); });
  if (chosen.empty()) return about_command(app, first);
  const CLI::App& command = *chosen.front();
  std::string text;
  std::vector<std::string> words = app.remaining();
  const std::vector<std::string> behind = command.remaining();
  words.insert(words.end(), behind.begin(), behind.end());
  for (const std::string& word : words)
    if (text.empty() && !option_in(word).empty()) text = about_option(app, command, option_in(word));
  if (text.empty() && !words.empty())
    text = "what is '" + words.front() + "'? It stands behind all that the command takes without an option.";
  if (text.empty()) text = std::string(why.what()) + ".";
  return command.get_name() + ": " + text + " `nsk " + command.get_name() + " --help` lists the options.";
}

exit_code dispatch(const std::vector<std::string>& given) {
  CLI::App app("nsk: converts neural networks for the netsuke engine, runs, inspects, checks and measures them.",
               "nsk");
  app.footer(
      "\nExample:\n"
      "  nsk convert model.onnx -o model.nsk --check && nsk bench model.nsk\n\n"
      "`nsk COMMAND --help` tells more. Results go to standard output, progress and errors to standard error.\n"
      "Exit codes: 0 good, 1 usage, 2 input refused, 3 numeric check failed.");
  app.get_formatter()->column_width(option_column);
  app.set_version_flag("--version", "nsk " NSK_VERSION_STRING);
  app.require_subcommand(1);
  command_line line{app};
  for (command_adder* add :
       {add_convert, add_quantize, add_run, add_inspect, add_check, add_profile, add_prepare, add_selftest, add_json,
        add_from_json, add_codegen, add_operators, add_bench, add_tokenizer, add_tokenize})
    add(line);
  for (CLI::App* command : app.get_subcommands(nullptr)) line.files.explain(command);
  try {
    std::vector<std::string> words = without_deprecated(given);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e) == 0 ? exit_code::good : exit_code::usage;  // help and version
    misuse(usage_message(app, e, given.empty() ? nullptr : given.front().c_str()));
  }
  command_files declared;
  line.files.declare(app.get_subcommands().front(), declared);
  const auto chosen =
      std::find_if(line.commands.begin(), line.commands.end(), [](const auto& c) { return c.first->parsed(); });
  return chosen->second(declared);
}

int fail(exit_code code, const char* message) {
  std::fprintf(stderr, "nsk: %s\n", message);
  return static_cast<int>(code);
}

}

int main(int argc, char** argv) {
  try {
    const exit_code code = dispatch(begin_program(argc, argv));
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      return fail(exit_code::refused, "cannot write to standard output (is the disk full?).");
    return static_cast<int>(code);
  } catch (const error& e) {
    return fail(e.code, e.what());
  } catch (const std::bad_alloc&) {
    return fail(exit_code::refused, "not enough memory for this model.");
  } catch (const std::exception& e) {
    return fail(exit_code::refused, e.what());
  }
}
