// SPDX-License-Identifier: MIT
#pragma once
/// Programs of the user, run by the system's shell.
#include <chrono>
#include <string>

namespace nsk::tool {

/// What a program printed, and how it ended.
struct program_end {
  std::string output;  ///< the first 4096 bytes, about
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0 for none
  int error = 0;   ///< why it could not be started, a value of errno
  bool is_late = false, is_interrupted = false;
};

/// Runs `command` with one more argument, by sh -c on POSIX and cmd /c on Windows, without input. A program that has
/// not ended in time, or when a signal waits, is ended with those that it started.
program_end run_program(const std::string& command, const std::string& argument, std::chrono::milliseconds limit);

}
