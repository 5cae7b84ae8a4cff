// SPDX-License-Identifier: MIT
#pragma once
/// Files that are written together: all of them appear, or none.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/system/new_file.hpp"

namespace nsk::tool {

/// Content waits beside the places of the files until commit(), where the system allows it without a name. What was not
/// committed goes with the object, also where a signal ends the program. A file that is replaced keeps its permissions
/// and, where possible, its owner; links to it are followed. Devices and pipes are written directly, in commit().
/// Every failure is a tool error that names the file, the reason and the cure.
class new_files {
 public:
  /// How content waits: without a name where that works, or always under one.
  enum class waiting { unnamed, named };

  explicit new_files(waiting how = waiting::unnamed);
  ~new_files();
  new_files(const new_files&) = delete;
  new_files& operator=(const new_files&) = delete;

  void add(const std::string& path, const void* data, std::size_t bytes);
  void add(const std::string& path, std::string_view text) { add(path, text.data(), text.size()); }
  /// Makes the directory, and those above it, unless it exists. Without commit() it goes again.
  void make_directory(const std::string& path);
  /// Puts every file in its place. Where one cannot be put there, those before it are taken back.
  void commit();

 private:
  struct device {
    std::string path, content;
  };
  void roll_back(std::size_t count);

  waiting m_how;
  std::unique_ptr<signal_hold> m_hold;  ///< from the first change to the last
  std::vector<std::unique_ptr<new_file>> m_files;
  std::vector<device> m_devices;
  std::vector<std::string> m_directories;
};

/// Refuses where a file cannot be written at `path`, as far as that can be known before: it is a directory, or
/// read-only, or is in a directory that may not be written to, or is missing unless `directory_comes`.
void require_writable(const std::string& path, bool directory_comes);

/// Refuses where there can be no directory at `path` that files are written to.
void require_directory(const std::string& path);

/// Returns where a file written at `path` is: links are followed, also one that leads to no file yet.
std::string target_of(const std::string& path);

}
