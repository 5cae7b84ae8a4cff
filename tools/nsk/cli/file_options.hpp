// SPDX-License-Identifier: MIT
#pragma once
/// The options that name files, and what a command does with those.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "io/command_files.hpp"

namespace nsk::tool {

/// Makes every option whose value names a file or directory: --help lists it, and its file is declared before the
/// command runs.
class file_options {
 public:
  /// Adds an option whose file the command reads; `form` is what the help calls it, with NAME= in front where values
  /// are. `remark` stands in the list of the help.
  CLI::Option* reads(CLI::App* command, const char* name, std::string& path, const char* form, const char* what,
                     const char* remark = "");
  CLI::Option* reads(CLI::App* command, const char* name, std::vector<std::string>& values, const char* form,
                     const char* what);
  /// Adds an option whose file the command writes; with `extensions`, others beside it.
  CLI::Option* writes(CLI::App* command, const char* name, std::string& path, const char* form, const char* what,
                      const std::vector<std::string>& extensions = {});
  /// Adds an option that names a directory to write to.
  CLI::Option* writes_into(CLI::App* command, const char* name, std::string& path, const char* form, const char* what);

  /// Adds to the help of a command which of its options are read and written.
  void explain(CLI::App* command) const;
  /// Declares the files that the options of a parsed command name.
  void declare(const CLI::App* command, command_files& files) const;

 private:
  enum class use { read, write, write_into };
  struct file_option {
    const CLI::App* command;
    CLI::Option* option;
    use how;
    std::vector<std::string> extensions;
    std::string remark;
  };
  CLI::Option* note(const file_option& f, const char* form);
  std::string list(const CLI::App* command, bool read) const;

  std::vector<file_option> m_options;
};

}
