// SPDX-License-Identifier: MIT
#include "io/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "errors.hpp"

namespace nsk::tool {
namespace {
namespace fs = std::filesystem;

std::string reason(int code) { return std::generic_category().message(code); }

/// A file descriptor that closes itself.
struct descriptor {
  int fd;
  explicit descriptor(int f) : fd(f) {}
  ~descriptor() {
    if (fd >= 0) ::close(fd);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  /// Returns 0 or the error that closing reported: some file systems say only here that the disk is full.
  int close() {
    const int result = ::close(fd) == 0 ? 0 : errno;
    fd = -1;
    return result;
  }
};

int write_all(int fd, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(fd, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return 0;
}

[[noreturn]] void refuse_write(const std::string& path, int code) {
  const char* cure = code == ENOSPC || code == EFBIG || code == EDQUOT ? "free some space or write elsewhere"
                     : code == ENOENT                                  ? "make its directory first"
                                                                       : "choose a place that you may write to";
  refuse("cannot write '" + path + "': " + reason(code) + ". Nothing was left behind; " + cure + ".");
}

void write_directly(const std::string& path, const void* data, std::size_t bytes) {
  descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.fd < 0) refuse_write(path, errno);
  if (const int code = write_all(file.fd, static_cast<const char*>(data), bytes)) refuse_write(path, code);
  if (const int code = file.close()) refuse_write(path, code);
}

}

std::vector<std::byte> read_file(const std::string& path, std::string_view what) {
  const std::string subject = std::string(what) + " '" + path + "'";
  std::error_code error;
  if (fs::is_directory(path, error)) refuse(subject + " is a directory; give a file.");
  descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) refuse("cannot read " + subject + ": " + reason(errno) + ". Check the path.");
  std::vector<std::byte> bytes;
  const auto expected = fs::file_size(path, error);
  if (!error) bytes.reserve(static_cast<std::size_t>(expected));
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  for (;;) {
    const ssize_t n = ::read(file.fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse("cannot read " + subject + ": " + reason(errno) + ".");
    if (n == 0) return bytes;
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + n);
  }
}

void write_file(const std::string& path, const void* data, std::size_t bytes) {
  std::error_code error;
  if (fs::is_directory(path, error)) refuse("cannot write '" + path + "': it is a directory; give a file name.");
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_directly(path, data, bytes);

  const std::string target = fs::exists(status) ? fs::canonical(path).string() : path;
  const std::string temporary = target + ".tmp" + std::to_string(::getpid());
  descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.fd < 0) refuse_write(path, errno);
  int code = write_all(file.fd, static_cast<const char*>(data), bytes);
  const int closed = file.close();
  if (code == 0) code = closed;
  if (code == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(temporary.c_str());
    refuse_write(path, code);
  }
}

void make_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path))
    refuse("cannot make the directory '" + path + "': " + (error ? error.message() : "a file has that name") + ".");
}

std::string file_name_of(const std::string& name) {
  std::string result = name;
  for (char& c : result) {
    const bool kept =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (!kept) c = '_';
  }
  return result;
}

}
