// SPDX-License-Identifier: MIT
#pragma once
/// File descriptors.
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "io/system/signals.hpp"

namespace nsk::tool {

/// A file descriptor that closes itself.
class descriptor {
 public:
  explicit descriptor(int fd) : m_fd(fd) {}
  ~descriptor() { close(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  int get() const { return m_fd; }
  void reset(int fd) {
    close();
    m_fd = fd;
  }
  /// Returns 0 or the error that closing reported.
  int close() {
    const int result = m_fd < 0 || ::close(m_fd) == 0 ? 0 : errno;
    m_fd = -1;
    return result;
  }

 private:
  int m_fd;
};

/// Writes all bytes, waiting where a pipe is full. Returns 0 or an error: EINTR after a signal.
int write_all(int fd, const char* data, std::size_t bytes, const signal_hold& hold);

}
