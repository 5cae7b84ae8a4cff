// SPDX-License-Identifier: MIT
#include "io/command_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "errors.hpp"

namespace nsk::tool {
namespace {
namespace fs = std::filesystem;

const std::string standard_output = "standard output";

/// Whether writing to it takes nothing from it: terminals, /dev/null.
bool is_bottomless(const struct stat& found) { return S_ISCHR(found.st_mode); }

std::string called(const std::string& role, const std::string& path) {
  return path.empty() ? role : role + " '" + path + "'";
}

}

std::string beside(const std::string& path, const char* extension) {
  return fs::path(path).replace_extension(extension).string();
}

command_files::command_files() {
  struct stat found;
  if (::fstat(STDOUT_FILENO, &found) == 0 && S_ISREG(found.st_mode))
    add({standard_output, "", true, {found.st_dev, found.st_ino, ""}});
}

void command_files::add_output(const std::string& role, const std::string& path) {
  add(role, path, true);
  require_writable(path, !m_directory.empty());
}

void command_files::add_output_beside(const std::string& role, const std::string& path, const char* extension) {
  struct stat found;
  if (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
    misuse(called(role, path) + " is no file, so that nothing can be written beside it, as the " + extension +
           " would be. Give a file name.");
  add_output("the " + std::string(extension) + " beside " + role, beside(path, extension));
}

void command_files::add_output_directory(const std::string& path) {
  if (path.empty()) misuse("the name of the directory for outputs is empty.");
  require_directory(path);
  m_directory = path;
}

void command_files::write(const std::string& path, const void* data, std::size_t bytes) {
  bool known = false;
  for (const declared& file : m_declared) known = known || (file.is_output && file.path == path);
  if (!known) throw std::logic_error("'" + path + "' is written, but was not declared as an output.");
  if (!m_directory.empty()) m_new.make_directory(m_directory);
  m_new.add(path, data, bytes);
}

bool command_files::are_same(const identity& a, const identity& b) {
  if (!a.place.empty() && a.place == b.place) return true;
  return a.number != 0 && a.device == b.device && a.number == b.number;
}

void command_files::add(const std::string& role, const std::string& path, bool is_output) {
  if (path.empty()) misuse(role + ": the name of the file is empty.");
  const fs::path target = is_output ? target_of(path) : path;
  declared file = {role, path, is_output, {}};
  struct stat found;
  if (::stat(target.c_str(), &found) == 0) {
    if (is_bottomless(found)) return m_declared.push_back(file);
    file.is.device = found.st_dev;
    file.is.number = found.st_ino;
  }
  std::error_code failed;
  const fs::path whole = fs::absolute(target, failed);
  file.is.place = (fs::weakly_canonical(whole.parent_path(), failed) / whole.filename()).string();
  add(file);
}

void command_files::add(const declared& file) {
  for (const declared& other : m_declared) {
    if (!(file.is_output || other.is_output) || !are_same(file.is, other.is)) continue;
    const declared &output = file.is_output ? file : other, &victim = file.is_output ? other : file;
    misuse(called(output.role, output.path) + " would overwrite " + called(victim.role, victim.path) +
           ": they are the same file. Choose another name for " + output.role + ".");
  }
  m_declared.push_back(file);
}

}
