// SPDX-License-Identifier: MIT
#include "io/new_files.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "errors.hpp"
#include "io/system/files.hpp"
#include "io/system/new_file.hpp"
#include "io/system/paths.hpp"
#include "io/system/waiting_name.hpp"

namespace nsk::tool {
namespace {
namespace fs = std::filesystem;

constexpr std::size_t max_descriptors = 64;  ///< further files wait under names
constexpr int max_links = 40;

[[noreturn]] void refuse_write(const std::string& path, int code) {
  if (code == EINTR) refuse("interrupted while '" + path + "' was written. Nothing was left behind.");
  const char* cure = is_out_of_space(code) ? "free some space or write elsewhere"
                     : code == ENOENT      ? "make its directory first"
                     : code == EBUSY       ? "end that program, or choose another name"
                                           : "choose a place that you may write to";
  refuse("cannot write '" + path + "': " + reason_of(code) + ". Nothing was left behind; " + cure + ".");
}

void require(const std::string& path, int code) {
  if (code != 0) refuse_write(path, code);
}

[[noreturn]] void refuse_directory(const std::string& path) {
  refuse("cannot write '" + path + "': it is a directory; give a file name.");
}

}

new_files::new_files(waiting how) : m_how(how) {}

new_files::~new_files() {
  m_files.clear();
  for (std::size_t i = m_directories.size(); i-- > 0;) remove_directory(m_directories[i]);
}

void new_files::add(const std::string& path, const void* data, std::size_t bytes) {
  const std::string target = target_of(path);
  const file_kind kind = status_of(target).kind;
  if (kind == file_kind::directory) refuse_directory(path);
  if (kind == file_kind::pipe || kind == file_kind::device) {
    m_devices.push_back({path, std::string(static_cast<const char*>(data), bytes)});
    return;
  }
  if (!m_hold) m_hold = std::make_unique<signal_hold>();
  m_files.push_back(std::make_unique<new_file>(path, target));
  require(path, m_files.back()->open(m_how == waiting::unnamed && m_files.size() <= max_descriptors));
  require(path, m_files.back()->fill(static_cast<const char*>(data), bytes, *m_hold));
}

void new_files::make_directory(const std::string& path) {
  std::error_code error;
  fs::path made;
  for (const fs::path& part : path_of(path)) {
    made /= part;
    if (fs::is_directory(made, error)) continue;
    if (!m_hold) m_hold = std::make_unique<signal_hold>();
    const int code = make_one_directory(utf8_of(made));
    if (code == 0)
      m_directories.push_back(utf8_of(made));
    else if (!fs::is_directory(made, error))
      refuse("cannot make the directory '" + path +
             "': " + (code == EEXIST || code == ENOTDIR ? "a file has that name" : reason_of(code)) + ".");
  }
}

void new_files::commit() {
  if (!m_hold) m_hold = std::make_unique<signal_hold>();
  for (const device& d : m_devices) require(d.path, write_to_device(d.path, d.content, *m_hold));
  for (const auto& f : m_files) require(f->path(), f->give_name());
  for (std::size_t i = 0; i < m_files.size(); ++i) {
    const int code = m_files[i]->put_in_place(m_files.size() > 1);
    if (code == 0) continue;
    roll_back(i);
    refuse_write(m_files[i]->path(), code);
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
  fs::path target = path_of(path);
  std::error_code error;
  for (int i = 0; fs::is_symlink(target, error); ++i) {
    if (i == max_links) refuse("cannot write '" + path + "': its symbolic links have no end.");
    const fs::path next = fs::read_symlink(target, error);
    // The links of /proc/self/fd lead to what has no name.
    if (error || (!fs::exists(target.parent_path() / next, error) && fs::exists(target, error))) break;
    target = target.parent_path() / next;
  }
  return utf8_of(target);
}

void require_directory(const std::string& path) {
  std::error_code failed;
  fs::path there = fs::absolute(path_of(path), failed);
  while (!fs::exists(there, failed) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, failed)) refuse("cannot make the directory '" + path + "': a file has that name.");
  require(path, may_fill(utf8_of(there)));
}

void require_writable(const std::string& path, bool directory_comes) {
  const std::string target = target_of(path);
  const file_kind kind = status_of(target).kind;
  if (kind == file_kind::directory) refuse_directory(path);
  if (kind != file_kind::missing) {
    if (may_write(target) != 0)
      refuse("cannot write '" + path +
             "': it is read-only. Make it writable (chmod u+w, on Windows attrib -r), or choose "
             "another name.");
    if (kind != file_kind::regular) return;
  } else if (path_of(target).filename().empty()) {
    refuse("cannot write '" + path + "': it names a directory; give a file name.");
  }
  const int code = may_fill(directory_of(target));
  if (code != ENOENT || !directory_comes) require(path, code);
}

}
