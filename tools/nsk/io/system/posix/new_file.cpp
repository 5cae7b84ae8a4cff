// SPDX-License-Identifier: MIT
#include "io/system/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "io/system/posix/descriptor.hpp"
#include "io/system/waiting_name.hpp"

namespace nsk::tool {
namespace {

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

struct new_file::state {
  std::string target;
  std::string name;                           ///< under which it waits; empty while it has none
  bool replaces = false, is_swapped = false;  ///< swapped: what it replaced has its name
  struct stat old {
  }, own{};
  descriptor fd{-1};

  explicit state(const std::string& where) : target(where) { replaces = ::stat(target.c_str(), &old) == 0; }

  /// Gives it a fresh name by make(name), which returns a negative number, with errno, on failure.
  template <class F>
  int find_name(F&& make) {
    for (int i = 0; i < max_names; ++i) {
      const std::string fresh = waiting_name(target, static_cast<std::uint64_t>(::getpid()));
      if (make(fresh.c_str()) >= 0) {
        name = fresh;
        return 0;
      }
      if (errno != EEXIST) break;
    }
    return errno;
  }
};

new_file::new_file(std::string path, const std::string& target)
    : m_path(std::move(path)), m(std::make_unique<state>(target)) {}
new_file::~new_file() { drop_name(); }

void new_file::drop_name() {
  if (!m->name.empty()) ::unlink(m->name.c_str());
  m->name.clear();
}

int new_file::open([[maybe_unused]] bool unnamed) {
  const mode_t mode = m->replaces ? 0600 : 0666;
#if defined(O_TMPFILE)
  if (unnamed && ::access("/proc/self/fd", X_OK) == 0)
    m->fd.reset(::open(directory_of(m->target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
#endif
  if (m->fd.get() >= 0) return 0;
  return m->find_name([&](const char* fresh) {
    m->fd.reset(::open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    return m->fd.get();
  });
}

int new_file::fill(const char* data, std::size_t bytes, const signal_hold& hold) {
  int code = write_all(m->fd.get(), data, bytes, hold);
  if (code == 0 && m->replaces) {
    // Only the owner's own rights go along where the owner does not.
    const bool owned = ::fchown(m->fd.get(), m->old.st_uid, m->old.st_gid) == 0;
    if (::fchmod(m->fd.get(), m->old.st_mode & (owned ? 07777 : 0777)) != 0) code = errno;
  }
  if (code == 0 && ::fstat(m->fd.get(), &m->own) != 0) code = errno;
  if (code == 0 && !m->name.empty()) code = m->fd.close();  // some file systems say only here that the disk is full
  return code;
}

int new_file::give_name() {
  if (!m->name.empty()) return 0;
  const std::string open_file = "/proc/self/fd/" + std::to_string(m->fd.get());
  const int code = m->find_name(
      [&](const char* fresh) { return ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, fresh, AT_SYMLINK_FOLLOW); });
  return code != 0 ? code : m->fd.close();
}

int new_file::put_in_place(bool keep) {
  if (keep && m->replaces && is_at(m->target, m->old)) {
    m->fd.reset(
        ::open(m->target.c_str(), reference));  // deleting its content takes a while: not before all names are gone
    m->is_swapped = swap_files(m->name, m->target);
  }
  if (m->is_swapped) return 0;
  if (::rename(m->name.c_str(), m->target.c_str()) != 0) return errno;
  m->name.clear();
  return 0;
}

void new_file::roll_back() {
  if (!is_at(m->target, m->own)) return;
  if (m->is_swapped)
    swap_files(m->name, m->target);
  else if (!m->replaces)
    ::unlink(m->target.c_str());
}

}
