// SPDX-License-Identifier: MIT
#include "io/command_files.hpp"

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "errors.hpp"
#include "io/system/files.hpp"
#include "io/system/paths.hpp"

namespace nsk::tool {
namespace {
namespace fs = std::filesystem;

const std::string standard_output = "standard output";

std::string called(const std::string& role, const std::string& path) {
  return path.empty() ? role : role + " '" + path + "'";
}

}

std::string beside(const std::string& path, const char* extension) {
  return utf8_of(path_of(path).replace_extension(extension));
}

command_files::command_files() {
  const file_status found = status_of_output();
  if (found.kind == file_kind::regular) add({standard_output, "", true, {found.device, found.number, ""}});
}

void command_files::add_output(const std::string& role, const std::string& path) {
  add(role, path, true);
  require_writable(path, !m_directory.empty());
}

void command_files::add_output_beside(const std::string& role, const std::string& path, const char* extension) {
  const file_kind kind = status_of(path).kind;
  if (kind == file_kind::pipe || kind == file_kind::device)
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
  const std::string target = is_output ? target_of(path) : path;
  declared file = {role, path, is_output, {}};
  const file_status found = status_of(target);
  if (found.kind == file_kind::device)
    return m_declared.push_back(file);  // writing to a terminal takes nothing from it
  file.is.device = found.device;
  file.is.number = found.number;
  std::error_code failed;
  const fs::path whole = fs::absolute(path_of(target), failed);
  file.is.place = utf8_of(fs::weakly_canonical(whole.parent_path(), failed) / whole.filename());
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
