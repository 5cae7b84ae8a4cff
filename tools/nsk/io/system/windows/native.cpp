// SPDX-License-Identifier: MIT
#include "io/system/windows/native.hpp"

#include <cerrno>

namespace nsk::tool {

std::wstring utf16_of(const std::string& text) {
  const int bytes = static_cast<int>(text.size());
  std::wstring wide(static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

std::string utf8_of_utf16(const std::wstring& text) {
  const int units = static_cast<int>(text.size());
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, text.data(), units, nullptr, 0, nullptr, nullptr);
  std::string narrow(static_cast<std::size_t>(bytes), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), units, narrow.data(), bytes, nullptr, nullptr);
  return narrow;
}

std::wstring native_path(const std::string& path) {
  // https://learn.microsoft.com/windows/win32/fileio/maximum-file-path-limitation: directories leave 12 characters.
  constexpr std::size_t longest = MAX_PATH - 13;
  std::wstring wide = utf16_of(path);
  const DWORD units = GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr);
  if (units <= longest || wide.compare(0, 4, L"\\\\?\\") == 0) return wide;
  std::wstring whole(units, L'\0');
  whole.resize(GetFullPathNameW(wide.c_str(), units, whole.data(), nullptr));
  const bool is_share = whole.compare(0, 2, L"\\\\") == 0;
  return is_share ? L"\\\\?\\UNC" + whole.substr(1) : L"\\\\?\\" + whole;
}

int errno_of(DWORD error) {
  switch (error) {
    case ERROR_SUCCESS: return 0;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH: return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_WRITE_PROTECT: return EACCES;
    case ERROR_SHARING_VIOLATION:
    case ERROR_UNABLE_TO_REMOVE_REPLACED:
    case ERROR_LOCK_VIOLATION: return EBUSY;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_DIRECTORY: return ENOTDIR;
    case ERROR_DIR_NOT_EMPTY: return ENOTEMPTY;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return ENOSPC;
    case ERROR_FILE_TOO_LARGE: return EFBIG;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: return ENOMEM;
    case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA: return EPIPE;
    case ERROR_OPERATION_ABORTED: return EINTR;
    default: return EIO;
  }
}

int last_errno() { return errno_of(GetLastError()); }

}
