// SPDX-License-Identifier: MIT
#pragma once
/// Signals that end a program, held back while a file is half done.
#include <memory>

namespace nsk::tool {

/// While one exists, what asks the program to end waits, unless it is ignored: SIGHUP, SIGINT, SIGTERM and the like on
/// POSIX, Ctrl+C, Ctrl+Break and a closed console on Windows. What came ends the program when the last one goes. On
/// POSIX a thread that is started meanwhile holds them back for ever, and leaves them to the thread that started it.
class signal_hold {
 public:
  signal_hold();
  ~signal_hold();
  signal_hold(const signal_hold&) = delete;
  signal_hold& operator=(const signal_hold&) = delete;
  /// Whether one waits.
  bool interrupted() const;

 private:
  struct state;
  std::unique_ptr<state> m;
};

}
