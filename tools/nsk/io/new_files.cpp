// SPDX-License-Identifier: MIT
#include "io/new_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>

#include "errors.hpp"
#include "io/descriptor.hpp"

namespace nsk::tool {
namespace {
namespace fs = std::filesystem;

constexpr std::size_t max_descriptors = 64;               ///< further files wait under names
constexpr std::size_t write_size = std::size_t{1} << 20;  ///< bytes between two looks for a signal
constexpr int max_links = 40, max_names = 100;
constexpr int interrupted = EINTR;
constexpr int patience = 100;  ///< milliseconds between two looks at a pipe

[[noreturn]] void refuse_write(const std::string& path, int code) {
  if (code == interrupted) refuse("interrupted while '" + path + "' was written. Nothing was left behind.");
  const char* cure = code == ENOSPC || code == EFBIG || code == EDQUOT ? "free some space or write elsewhere"
                     : code == ENOENT                                  ? "make its directory first"
                                                                       : "choose a place that you may write to";
  refuse("cannot write '" + path + "': " + reason_of(code) + ". Nothing was left behind; " + cure + ".");
}

int write_all(int fd, const char* data, std::size_t bytes, const signal_hold& hold) {
  while (bytes > 0) {
    if (hold.interrupted()) return interrupted;
    const ssize_t n = ::write(fd, data, std::min(bytes, write_size));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd full = {fd, POLLOUT, 0};
      ::poll(&full, 1, patience);
      continue;
    }
    if (n < 0) return errno;
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return 0;
}

/// Writes to what is no regular file, waiting for the reader of a pipe.
void write_directly(const std::string& path, std::string_view content, const signal_hold& hold) {
  struct stat found;
  const bool is_pipe = ::stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
  descriptor to(-1);
  for (;;) {
    to.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (to.get() >= 0) break;
    if (errno != ENXIO || !is_pipe) refuse_write(path, errno);
    if (hold.interrupted()) refuse_write(path, interrupted);
    ::poll(nullptr, 0, patience);
  }
  if (const int code = write_all(to.get(), content.data(), content.size(), hold)) refuse_write(path, code);
  if (const int code = to.close()) refuse_write(path, code);
}

std::string directory_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// A name beside `target` that no other process chooses.
std::string waiting_name(const std::string& target) {
  static std::mt19937_64 numbers(std::random_device{}() ^ (static_cast<std::uint64_t>(::getpid()) << 32));
  constexpr char digits[] = "0123456789abcdef";
  std::string name = ".nsk-";
  for (std::uint64_t bits = numbers(), i = 0; i < 16; ++i, bits >>= 4) name += digits[bits & 15];
  return directory_of(target) + "/" + name + ".tmp";
}

/// Calls make(name) with fresh names until it does not find one taken. Returns the name; empty, with errno, on failure.
template <class F>
std::string with_fresh_name(const std::string& target, F&& make) {
  for (int i = 0; i < max_names; ++i) {
    const std::string name = waiting_name(target);
    if (make(name.c_str()) >= 0) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

#if defined(RENAME_EXCHANGE)
constexpr int reference = O_PATH | O_CLOEXEC;  ///< to a file, without rights
#else
constexpr int reference = O_RDONLY | O_CLOEXEC;
#endif

/// Swaps two files. Fails where the file system cannot.
bool swap_files([[maybe_unused]] const std::string& a, [[maybe_unused]] const std::string& b) {
#if defined(RENAME_EXCHANGE)
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

bool is_at(const std::string& path, const struct stat& file) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0 && found.st_dev == file.st_dev && found.st_ino == file.st_ino;
}

}

/// A file that waits for its place.
struct new_files::file {
  std::string path, target;                   ///< as the user wrote it; with links followed
  std::string name;                           ///< under which it waits; empty while it has none
  bool replaces = false, is_swapped = false;  ///< swapped: what it replaced has its name
  struct stat old {
  }, own{};
  descriptor fd{-1};

  file(std::string user_path, std::string real_path) : path(std::move(user_path)), target(std::move(real_path)) {
    replaces = ::stat(target.c_str(), &old) == 0;
  }
  ~file() { drop_name(); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  void drop_name() {
    if (!name.empty()) ::unlink(name.c_str());
    name.clear();
  }

  /// Opens it without a name where that is possible and wanted. Until it is complete nothing else may read what
  /// replaces a private file.
  void open(bool unnamed) {
    const mode_t mode = replaces ? 0600 : 0666;
#if defined(O_TMPFILE)
    if (unnamed && ::access("/proc/self/fd", X_OK) == 0)
      fd.reset(::open(directory_of(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
#endif
    if (fd.get() >= 0) return;
    name = with_fresh_name(target, [&](const char* fresh) {
      fd.reset(::open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
      return fd.get();
    });
    if (name.empty()) refuse_write(path, errno);
  }

  void fill(const char* data, std::size_t bytes, const signal_hold& hold) {
    int code = write_all(fd.get(), data, bytes, hold);
    if (code == 0 && replaces) {
      // Only the owner's own rights go along where the owner does not.
      const bool owned = ::fchown(fd.get(), old.st_uid, old.st_gid) == 0;
      if (::fchmod(fd.get(), old.st_mode & (owned ? 07777 : 0777)) != 0) code = errno;
    }
    if (code == 0 && ::fstat(fd.get(), &own) != 0) code = errno;
    if (code == 0 && !name.empty()) code = fd.close();  // some file systems say only here that the disk is full
    if (code != 0) refuse_write(path, code);
  }

  void give_name() {
    if (!name.empty()) return;
    const std::string open_file = "/proc/self/fd/" + std::to_string(fd.get());
    name = with_fresh_name(target, [&](const char* fresh) {
      return ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, fresh, AT_SYMLINK_FOLLOW);
    });
    if (name.empty()) refuse_write(path, errno);
    if (const int code = fd.close()) refuse_write(path, code);
  }

  /// Returns 0 or an error code. What is replaced is kept until the end where that is wanted and possible.
  int put_in_place(bool keep) {
    if (keep && replaces && is_at(target, old)) {
      fd.reset(::open(target.c_str(), reference));  // deleting its content takes a while: not before all names are gone
      is_swapped = swap_files(name, target);
    }
    if (is_swapped) return 0;
    if (::rename(name.c_str(), target.c_str()) != 0) return errno;
    name.clear();
    return 0;
  }

  /// What was there before is there again, as far as it was kept and nothing else has written since.
  void roll_back() {
    if (!is_at(target, own)) return;
    if (is_swapped)
      swap_files(name, target);
    else if (!replaces)
      ::unlink(target.c_str());
  }
};

new_files::new_files(waiting how) : m_how(how) {}

new_files::~new_files() {
  m_files.clear();
  for (std::size_t i = m_directories.size(); i-- > 0;) ::rmdir(m_directories[i].c_str());
}

void new_files::add(const std::string& path, const void* data, std::size_t bytes) {
  const std::string target = target_of(path);
  struct stat found;
  if (::stat(target.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) refuse("cannot write '" + path + "': it is a directory; give a file name.");
    if (!S_ISREG(found.st_mode)) {
      m_devices.push_back({path, std::string(static_cast<const char*>(data), bytes)});
      return;
    }
  }
  if (!m_hold) m_hold = std::make_unique<signal_hold>();
  m_files.push_back(std::make_unique<file>(path, target));
  m_files.back()->open(m_how == waiting::unnamed && m_files.size() <= max_descriptors);
  m_files.back()->fill(static_cast<const char*>(data), bytes, *m_hold);
}

void new_files::make_directory(const std::string& path) {
  std::error_code error;
  fs::path made;
  for (const fs::path& part : fs::path(path)) {
    made /= part;
    if (fs::is_directory(made, error)) continue;
    if (!m_hold) m_hold = std::make_unique<signal_hold>();
    if (::mkdir(made.c_str(), 0777) == 0)
      m_directories.push_back(made.string());
    else if (const int code = errno; !fs::is_directory(made, error))
      refuse("cannot make the directory '" + path +
             "': " + (code == EEXIST || code == ENOTDIR ? "a file has that name" : reason_of(code)) + ".");
  }
}

void new_files::commit() {
  if (!m_hold) m_hold = std::make_unique<signal_hold>();
  for (const device& d : m_devices) write_directly(d.path, d.content, *m_hold);
  for (const auto& f : m_files) f->give_name();
  for (std::size_t i = 0; i < m_files.size(); ++i) {
    const int code = m_files[i]->put_in_place(m_files.size() > 1);
    if (code == 0) continue;
    roll_back(i);
    refuse_write(m_files[i]->path, code);
  }
  for (const auto& f : m_files) f->drop_name();
  m_devices.clear();
  m_files.clear();
  m_directories.clear();
  m_hold.reset();
}

void new_files::roll_back(std::size_t count) {
  while (count-- > 0) m_files[count]->roll_back();
}

std::string target_of(const std::string& path) {
  fs::path target = path;
  std::error_code error;
  for (int i = 0; fs::is_symlink(target, error); ++i) {
    if (i == max_links) refuse("cannot write '" + path + "': its symbolic links have no end.");
    const fs::path next = fs::read_symlink(target, error);
    // The links of /proc/self/fd lead to what has no name.
    if (error || (!fs::exists(target.parent_path() / next, error) && fs::exists(target, error))) break;
    target = target.parent_path() / next;
  }
  return target.string();
}

void require_directory(const std::string& path) {
  std::error_code failed;
  fs::path there = fs::absolute(path, failed);
  while (!fs::exists(there, failed) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, failed)) refuse("cannot make the directory '" + path + "': a file has that name.");
  if (::access(there.c_str(), W_OK | X_OK) != 0) refuse_write(path, errno);
}

void require_writable(const std::string& path, bool directory_comes) {
  const std::string target = target_of(path);
  struct stat found;
  if (::stat(target.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) refuse("cannot write '" + path + "': it is a directory; give a file name.");
    if (::access(target.c_str(), W_OK) != 0)
      refuse("cannot write '" + path + "': it is read-only. Make it writable with chmod u+w, or choose another name.");
    if (!S_ISREG(found.st_mode)) return;
  } else if (fs::path(target).filename().empty()) {
    refuse("cannot write '" + path + "': it names a directory; give a file name.");
  }
  if (::access(directory_of(target).c_str(), W_OK | X_OK) != 0 && !(directory_comes && errno == ENOENT))
    refuse_write(path, errno);
}

}
