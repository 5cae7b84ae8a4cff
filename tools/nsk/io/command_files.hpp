// SPDX-License-Identifier: MIT
#pragma once
/// The files of one command: what it reads, what it writes. No output is an input or another output.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/new_files.hpp"

namespace nsk::tool {

/// Name of the file that belongs to `path`: ".svg" beside "check.md" is "check.svg".
std::string beside(const std::string& path, const char* extension);

/// A command declares its files before it does any work. Two paths are one file where the device says so (links, other
/// spellings), and where both would be made at one place. Standard output is an output where it is a file. Terminals
/// and /dev/null can be many things at once.
class command_files {
 public:
  command_files();

  /// Declares a file that is read. `role` is what messages call it: "--profile".
  void add_input(const std::string& role, const std::string& path) { add(role, path, false); }
  /// Declares a file that will be written. Refuses early where that cannot be.
  void add_output(const std::string& role, const std::string& path);
  /// Declares beside(path, extension), which is written with the output `path`. Refuses where that is no place for it.
  void add_output_beside(const std::string& role, const std::string& path, const char* extension);
  /// Declares the directory that outputs will be written to, and made where it is missing.
  void add_output_directory(const std::string& path);

  /// Keeps the content of a declared output until commit().
  void write(const std::string& path, std::string_view text) { write(path, text.data(), text.size()); }
  void write(const std::string& path, const void* data, std::size_t bytes);
  /// Writes all, or nothing (new_files.hpp).
  void commit() { m_new.commit(); }

 private:
  struct identity {
    std::uint64_t device = 0, number = 0;  ///< as the system numbers files; 0, 0 for one that is not there yet
    std::string place;                     ///< path without links and detours; empty for standard output
  };
  struct declared {
    std::string role, path;
    bool is_output;
    identity is;
  };
  static bool are_same(const identity& a, const identity& b);
  void add(const std::string& role, const std::string& path, bool is_output);
  void add(const declared& file);

  std::vector<declared> m_declared;
  std::string m_directory;
  new_files m_new;
};

}
