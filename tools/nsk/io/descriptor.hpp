// SPDX-License-Identifier: MIT
#pragma once
/// A file descriptor that closes itself.
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace nsk::tool {

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

/// An errno as text.
inline std::string reason_of(int code) { return std::generic_category().message(code); }

}
