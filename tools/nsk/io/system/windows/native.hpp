// SPDX-License-Identifier: MIT
#pragma once
/// What the files of this folder share: texts, errors and handles of Windows.
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <cstddef>
#include <string>

#include "io/system/signals.hpp"

namespace nsk::tool {

/// Returns UTF-8 text as UTF-16. Bytes that are no UTF-8 become U+FFFD.
std::wstring utf16_of(const std::string& text);
/// Returns UTF-16 text as UTF-8. Halves of surrogate pairs become U+FFFD.
std::string utf8_of_utf16(const std::wstring& text);

/// Returns a path as functions of Windows take it, also where it has more than MAX_PATH characters.
std::wstring native_path(const std::string& path);

/// Returns the value of errno that an error of Windows is. The second asks GetLastError.
int errno_of(DWORD error);
int last_errno();

/// A handle that closes itself.
class handle {
 public:
  explicit handle(HANDLE h = INVALID_HANDLE_VALUE) : m_handle(h) {}
  ~handle() { close(); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;

  HANDLE get() const { return m_handle; }
  bool is_open() const { return m_handle != INVALID_HANDLE_VALUE && m_handle != nullptr; }
  void reset(HANDLE h) {
    close();
    m_handle = h;
  }
  /// Returns 0 or an error.
  int close() {
    const int result = !is_open() || CloseHandle(m_handle) != 0 ? 0 : last_errno();
    m_handle = INVALID_HANDLE_VALUE;
    return result;
  }

 private:
  HANDLE m_handle;
};

/// Writes all bytes. Returns 0 or an error: EINTR after a signal.
int write_all(HANDLE file, const char* data, std::size_t bytes, const signal_hold& hold);

}
