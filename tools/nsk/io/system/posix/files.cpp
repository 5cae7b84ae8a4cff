// SPDX-License-Identifier: MIT
#include "io/system/files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "io/system/paths.hpp"
#include "io/system/posix/descriptor.hpp"

namespace nsk::tool {
namespace {

constexpr int pause_ms = 100;  ///< between two looks at a pipe that has no reader

file_status status_from(const struct stat& found) {
  const file_kind kind = S_ISREG(found.st_mode)    ? file_kind::regular
                         : S_ISDIR(found.st_mode)  ? file_kind::directory
                         : S_ISFIFO(found.st_mode) ? file_kind::pipe
                         : S_ISSOCK(found.st_mode) ? file_kind::pipe
                                                   : file_kind::device;
  return {kind, static_cast<std::uint64_t>(found.st_dev), found.st_ino, static_cast<std::uint64_t>(found.st_size)};
}

}

file_status status_of(const std::string& path) {
  struct stat found;
  return ::stat(path.c_str(), &found) == 0 ? status_from(found) : file_status{};
}

file_status status_of_output() {
  struct stat found;
  return ::fstat(STDOUT_FILENO, &found) == 0 ? status_from(found) : file_status{};
}

std::string reason_of(int code) { return std::generic_category().message(code); }

bool is_out_of_space(int code) { return code == ENOSPC || code == EFBIG || code == EDQUOT; }

int may_write(const std::string& path) { return ::access(path.c_str(), W_OK) == 0 ? 0 : errno; }

int may_fill(const std::string& directory) { return ::access(directory.c_str(), W_OK | X_OK) == 0 ? 0 : errno; }

int make_one_directory(const std::string& path) { return ::mkdir(path.c_str(), 0777) == 0 ? 0 : errno; }

void remove_directory(const std::string& path) { ::rmdir(path.c_str()); }

std::string make_scratch_directory(const char* prefix) {
  std::error_code failed;
  std::string name = utf8_of(std::filesystem::temp_directory_path(failed) / (std::string(prefix) + "XXXXXX"));
  return failed || ::mkdtemp(name.data()) == nullptr ? std::string() : name;
}

struct input_file::state {
  descriptor file;
  int error = 0;
  file_status status;

  explicit state(const std::string& path) : file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat found;
    if (file.get() < 0 || ::fstat(file.get(), &found) != 0)
      error = errno;
    else
      status = status_from(found);
  }
};

input_file::input_file(const std::string& path) : m(std::make_unique<state>(path)) {}
input_file::~input_file() = default;
int input_file::error() const { return m->error; }
const file_status& input_file::status() const { return m->status; }

bool input_file::await(int milliseconds) {
  pollfd waiting = {m->file.get(), POLLIN, 0};
  int ready;
  do ready = ::poll(&waiting, 1, milliseconds);
  while (ready < 0 && errno == EINTR);
  return ready != 0;
}

int input_file::read(void* to, std::size_t bytes, std::size_t& count) {
  for (;;) {
    const ssize_t n = ::read(m->file.get(), to, bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return errno;
    count = static_cast<std::size_t>(n);
    return 0;
  }
}

int write_to_device(const std::string& path, std::string_view content, const signal_hold& hold) {
  const bool is_pipe = status_of(path).kind == file_kind::pipe;
  descriptor to(-1);
  for (;;) {
    to.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (to.get() >= 0) break;
    if (errno != ENXIO || !is_pipe) return errno;
    if (hold.interrupted()) return EINTR;
    ::poll(nullptr, 0, pause_ms);
  }
  if (const int code = write_all(to.get(), content.data(), content.size(), hold)) return code;
  return to.close();
}

int write_all(int fd, const char* data, std::size_t bytes, const signal_hold& hold) {
  constexpr std::size_t between_looks = std::size_t{1} << 20;  // for a signal
  while (bytes > 0) {
    if (hold.interrupted()) return EINTR;
    const ssize_t n = ::write(fd, data, std::min(bytes, between_looks));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd full = {fd, POLLOUT, 0};
      ::poll(&full, 1, pause_ms);
      continue;
    }
    if (n < 0) return errno;
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return 0;
}

}
