// SPDX-License-Identifier: MIT
#include "cli/usage.hpp"

#include <CLI/CLI.hpp>
#include <vector>

#include "suggest.hpp"

namespace nsk::tool {
namespace {

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

}

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

}
