// SPDX-License-Identifier: MIT
#pragma once
/// Signals that end a program, held back while a file is half done.
#include <csignal>

namespace nsk::tool {

/// While one exists, SIGHUP, SIGINT, SIGTERM and the like wait, unless they are ignored; those that came end the
/// program when it goes. A thread that is started meanwhile holds them back for ever, and leaves them to the thread
/// that started it.
class signal_hold {
 public:
  signal_hold();
  ~signal_hold();
  signal_hold(const signal_hold&) = delete;
  signal_hold& operator=(const signal_hold&) = delete;
  /// Whether a signal waits.
  bool interrupted() const;

 private:
  sigset_t m_held, m_before;
};

}
