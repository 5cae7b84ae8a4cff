// SPDX-License-Identifier: MIT
#pragma once
/// Files as the operating system has them: what is at a path, reading, directories. Paths are UTF-8 of any length.
/// Errors are values of errno, also on Windows: 0 is success. files.hpp and new_files.hpp make messages of them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/system/signals.hpp"

namespace nsk::tool {

enum class file_kind { missing, regular, directory, pipe, device };

/// What is at a path. Two paths with the same device and number are one file.
struct file_status {
  file_kind kind = file_kind::missing;
  std::uint64_t device = 0, number = 0;  ///< as the system numbers files; 0, 0 where nothing is
  std::uint64_t bytes = 0;               ///< of a regular file
};

/// Returns what is at a path, links followed.
file_status status_of(const std::string& path);
/// Returns what standard output is connected to.
file_status status_of_output();

/// Returns an error as text: "No such file or directory".
std::string reason_of(int code);
/// Whether an error says that the disk, or what the user may have of it, is full.
bool is_out_of_space(int code);

/// Whether the file at a path, which exists, may be written to; may_fill: whether a directory takes new files. They
/// return 0 or the error.
int may_write(const std::string& path);
int may_fill(const std::string& directory);

/// Makes one directory.
int make_one_directory(const std::string& path);
/// Removes a directory if it is empty.
void remove_directory(const std::string& path);
/// Makes a directory with a name of its own below the system's place for temporary files, for this user alone. Returns
/// its path; empty where none can be made.
std::string make_scratch_directory(const char* prefix);

/// A file or a pipe, open for reading.
class input_file {
 public:
  explicit input_file(const std::string& path);
  ~input_file();
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  /// 0, or why it could not be opened.
  int error() const;
  const file_status& status() const;
  /// Waits until a pipe has bytes or has ended. Returns false where neither came within `milliseconds`.
  bool await(int milliseconds);
  /// Stores up to `bytes` bytes and their number, 0 at the end. Returns 0 or an error.
  int read(void* to, std::size_t bytes, std::size_t& count);

 private:
  struct state;
  std::unique_ptr<state> m;
};

/// Writes to what is no regular file, waiting for the reader of a pipe. Returns 0 or an error: EINTR after a signal.
int write_to_device(const std::string& path, std::string_view content, const signal_hold& hold);

}
