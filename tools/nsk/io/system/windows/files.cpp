// SPDX-License-Identifier: MIT
#include "io/system/files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>

#include "io/system/paths.hpp"
#include "io/system/windows/native.hpp"

namespace nsk::tool {
namespace {

constexpr DWORD all_sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

file_status status_of_handle(HANDLE file) {
  const DWORD type = GetFileType(file);
  if (type == FILE_TYPE_PIPE) return {file_kind::pipe, 0, 0, 0};
  BY_HANDLE_FILE_INFORMATION found;
  if (type != FILE_TYPE_DISK) return {file_kind::device, 0, 0, 0};
  if (GetFileInformationByHandle(file, &found) == 0) return {};
  const bool is_directory = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  const auto joined = [](DWORD high, DWORD low) { return static_cast<std::uint64_t>(high) << 32 | low; };
  return {is_directory ? file_kind::directory : file_kind::regular, found.dwVolumeSerialNumber,
          joined(found.nFileIndexHigh, found.nFileIndexLow), joined(found.nFileSizeHigh, found.nFileSizeLow)};
}

bool is_console_name(const std::wstring& path) {
  for (const wchar_t* name : {L"NUL", L"CON", L"CONOUT$", L"CONIN$"})
    if (CompareStringOrdinal(path.c_str(), -1, name, -1, TRUE) == CSTR_EQUAL) return true;
  return false;
}

}

file_status status_of(const std::string& path) {
  const std::wstring native = native_path(path);
  if (is_console_name(native)) return {file_kind::device, 0, 0, 0};
  // No rights: what others have locked is found too. Directories are opened as backups are made.
  const handle file(
      CreateFileW(native.c_str(), 0, all_sharing, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (file.is_open()) return status_of_handle(file.get());
  const DWORD attributes = GetFileAttributesW(native.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return {};
  return {(attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? file_kind::directory : file_kind::regular, 0, 0, 0};
}

file_status status_of_output() { return status_of_handle(GetStdHandle(STD_OUTPUT_HANDLE)); }

std::string reason_of(int code) {
  if (code == EBUSY) return "another program uses it";
  return std::generic_category().message(code);
}

bool is_out_of_space(int code) { return code == ENOSPC || code == EFBIG; }

int may_write(const std::string& path) {
  const std::wstring native = native_path(path);
  const DWORD attributes = GetFileAttributesW(native.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) != 0) return EACCES;
  const handle file(CreateFileW(native.c_str(), GENERIC_WRITE, all_sharing, nullptr, OPEN_EXISTING, 0, nullptr));
  const int code = file.is_open() ? 0 : last_errno();
  return code == EBUSY ? 0 : code;  // it may be free when it is written
}

int may_fill(const std::string& directory) {
  const handle there(CreateFileW(native_path(directory).c_str(), FILE_ADD_FILE, all_sharing, nullptr, OPEN_EXISTING,
                                 FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!there.is_open()) return last_errno();
  return status_of_handle(there.get()).kind == file_kind::directory ? 0 : ENOTDIR;
}

int make_one_directory(const std::string& path) {
  return CreateDirectoryW(native_path(path).c_str(), nullptr) != 0 ? 0 : last_errno();
}

void remove_directory(const std::string& path) { RemoveDirectoryW(native_path(path).c_str()); }

std::string make_scratch_directory(const char* prefix) {
  std::error_code failed;
  const std::filesystem::path place = std::filesystem::temp_directory_path(failed);
  std::mt19937_64 numbers(std::random_device{}() ^ static_cast<std::uint64_t>(GetCurrentProcessId()) << 32);
  for (int i = 0; !failed && i < 100; ++i) {
    const std::string name = utf8_of(place / path_of(prefix + std::to_string(numbers())));
    const int code = make_one_directory(name);
    if (code == 0) return name;
    if (code != EEXIST) break;
  }
  return {};
}

struct input_file::state {
  handle file;
  int error = 0;
  file_status status;
};

input_file::input_file(const std::string& path) : m(std::make_unique<state>()) {
  m->status = status_of(path);
  if (m->status.kind == file_kind::directory) return;
  m->file.reset(CreateFileW(native_path(path).c_str(), GENERIC_READ, all_sharing, nullptr, OPEN_EXISTING,
                            FILE_FLAG_SEQUENTIAL_SCAN, nullptr));
  if (m->file.is_open())
    m->status = status_of_handle(m->file.get());
  else
    m->error = last_errno();
}
input_file::~input_file() = default;
int input_file::error() const { return m->error; }
const file_status& input_file::status() const { return m->status; }

bool input_file::await(int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  DWORD waiting = 0;
  while (PeekNamedPipe(m->file.get(), nullptr, 0, nullptr, &waiting, nullptr) != 0 && waiting == 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

int input_file::read(void* to, std::size_t bytes, std::size_t& count) {
  DWORD got = 0;
  const auto limit = static_cast<DWORD>(std::min(bytes, std::size_t{1} << 30));
  const bool good = ReadFile(m->file.get(), to, limit, &got, nullptr) != 0;
  count = got;
  const int code = good ? 0 : last_errno();
  return code == EPIPE ? 0 : code;  // the writer has ended
}

int write_all(HANDLE file, const char* data, std::size_t bytes, const signal_hold& hold) {
  constexpr std::size_t between_looks = std::size_t{1} << 20;  // for a signal
  while (bytes > 0) {
    if (hold.interrupted()) return EINTR;
    DWORD written = 0;
    if (WriteFile(file, data, static_cast<DWORD>(std::min(bytes, between_looks)), &written, nullptr) == 0)
      return last_errno();
    data += written;
    bytes -= written;
  }
  return 0;
}

int write_to_device(const std::string& path, std::string_view content, const signal_hold& hold) {
  handle to(CreateFileW(native_path(path).c_str(), GENERIC_WRITE, all_sharing, nullptr, OPEN_EXISTING, 0, nullptr));
  if (!to.is_open()) return last_errno();
  if (const int code = write_all(to.get(), content.data(), content.size(), hold)) return code;
  return to.close();
}

}
