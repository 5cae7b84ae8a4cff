// SPDX-License-Identifier: MIT
#include "io/files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>

#include "errors.hpp"
#include "io/descriptor.hpp"

namespace nsk::tool {
namespace {

constexpr int patience = 10'000;  ///< milliseconds that a pipe may give nothing
constexpr std::size_t read_size = std::size_t{1} << 20;

std::string bytes_of(std::uint64_t bytes) {
  constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
  return std::to_string(bytes / mebi) + " MiB";
}

/// Waits until a pipe has bytes or has ended.
void await(int fd, const std::string& subject) {
  pollfd waiting = {fd, POLLIN, 0};
  int ready;
  do ready = ::poll(&waiting, 1, patience);
  while (ready < 0 && errno == EINTR);
  if (ready == 0)
    refuse(subject + " is a pipe that gave nothing for " + std::to_string(patience / 1000) +
           " seconds. Write it to a file first.");
}

}

std::vector<std::byte> read_file(const std::string& path, std::string_view what, std::uint64_t maximum) {
  const std::string subject = std::string(what) + " '" + path + "'";
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found;
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0)
    refuse("cannot read " + subject + ": " + reason_of(errno) + ". Check the path.");
  if (S_ISDIR(found.st_mode)) refuse(subject + " is a directory; give a file.");
  if (S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode)) refuse(subject + " is a device; give a file.");
  const bool is_file = S_ISREG(found.st_mode);
  if (!is_file) maximum = std::min(maximum, max_pipe_bytes);
  const auto too_large = [&] {
    refuse(subject + " has more than " + bytes_of(maximum) +
           (is_file ? ", the maximum of such a file." : ", the maximum of a pipe. Write it to a file first."));
  };
  if (is_file && static_cast<std::uint64_t>(found.st_size) > maximum) too_large();
  std::vector<std::byte> bytes(is_file ? static_cast<std::size_t>(found.st_size) + 1 : 0);  // one more than it should
  for (std::size_t size = 0;;) {
    if (!is_file) await(file.get(), subject);
    if (size == bytes.size()) bytes.resize(size + read_size);
    const ssize_t n = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) refuse("cannot read " + subject + ": " + reason_of(errno) + ".");
    if (n == 0) {
      bytes.resize(size);
      return bytes;
    }
    size += static_cast<std::size_t>(n);
    if (size > maximum) too_large();
  }
}

std::filesystem::path file_inside(const std::filesystem::path& folder, const std::string& name,
                                  const std::string& what) {
  namespace fs = std::filesystem;
  const fs::path given = fs::u8path(name);
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, failed);
  const fs::path file = fs::weakly_canonical(whole / given, failed);
  const bool inside = std::mismatch(whole.begin(), whole.end(), file.begin(), file.end()).first == whole.end();
  if (given.empty() || given.is_absolute() || !inside)
    refuse(what + " '" + name +
           "' is outside the model's folder. Put the file beside the model and save the model again");
  if (!fs::is_regular_file(file, failed))
    refuse(what + " '" + name + "' is missing. Put it beside the model, in " + whole.string());
  return file;
}

std::string file_name_of(const std::string& name) {
  std::string result = name.substr(0, max_file_name);
  for (char& c : result) {
    const bool kept =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (!kept) c = '_';
  }
  return result;
}

}
