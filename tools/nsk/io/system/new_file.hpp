// SPDX-License-Identifier: MIT
#pragma once
/// One file that waits for its place, the part of new_files.hpp that an operating system does.
#include <cstddef>
#include <memory>
#include <string>

#include "io/system/signals.hpp"

namespace nsk::tool {

/// Its content waits beside `target`, without a name or under one that goes with the object. Every int is 0 or an error
/// (io/system/files.hpp). What it replaces keeps its rights and, where possible, its owner.
class new_file {
 public:
  /// `path` is what the user wrote, `target` that with links followed.
  new_file(std::string path, const std::string& target);
  ~new_file();
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;

  const std::string& path() const { return m_path; }
  /// Opens it, without a name where that is wanted and the system can. Until it is complete nothing else may read what
  /// replaces a private file.
  int open(bool unnamed);
  /// Stores the whole content. EINTR after a signal.
  int fill(const char* data, std::size_t bytes, const signal_hold& hold);
  /// Gives it the name under which it waits, where it has none.
  int give_name();
  /// Puts it in its place. What is replaced is kept until drop_name() where that is wanted and possible.
  int put_in_place(bool keep);
  /// What was there before is there again, as far as it was kept and nothing else has written since.
  void roll_back();
  /// Removes what waits under a name: content that has no place, or what was replaced.
  void drop_name();

 private:
  struct state;
  std::string m_path;
  std::unique_ptr<state> m;
};

}
