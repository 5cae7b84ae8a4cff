// SPDX-License-Identifier: MIT
#include "io/system/new_file.hpp"

#include <cerrno>

#include "io/system/files.hpp"
#include "io/system/waiting_name.hpp"
#include "io/system/windows/native.hpp"

namespace nsk::tool {
namespace {

/// Whether another program has the file open and shares it too little: such a file cannot be replaced, which
/// MoveFileEx calls a missing right.
bool is_in_use(const std::wstring& native) {
  const handle alone(CreateFileW(native.c_str(), DELETE, 0, nullptr, OPEN_EXISTING, 0, nullptr));
  return !alone.is_open() && last_errno() == EBUSY;
}

}

struct new_file::state {
  std::string target;
  std::string name;       ///< under which it waits; empty while it has none
  std::string kept;       ///< under which what it replaced waits; empty where nothing does
  bool replaces = false;  ///< something was there when it began
  file_status own;
  handle file;

  explicit state(const std::string& where) : target(where), replaces(status_of(where).kind != file_kind::missing) {}

  std::string fresh_name() const { return waiting_name(target, GetCurrentProcessId()); }
};

new_file::new_file(std::string path, const std::string& target)
    : m_path(std::move(path)), m(std::make_unique<state>(target)) {}
new_file::~new_file() { drop_name(); }

void new_file::drop_name() {
  m->file.close();
  for (std::string* name : {&m->name, &m->kept}) {
    if (!name->empty()) DeleteFileW(native_path(*name).c_str());
    name->clear();
  }
}

int new_file::open(bool) {
  int code = 0;
  for (int i = 0; i < max_names; ++i) {
    const std::string fresh = m->fresh_name();
    m->file.reset(
        CreateFileW(native_path(fresh).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
    code = m->file.is_open() ? 0 : last_errno();
    if (code == 0) m->name = fresh;
    if (code != EEXIST) break;
  }
  return code;
}

int new_file::fill(const char* data, std::size_t bytes, const signal_hold& hold) {
  if (const int code = write_all(m->file.get(), data, bytes, hold)) return code;
  if (const int code = m->file.close()) return code;
  m->own = status_of(m->name);
  return 0;
}

int new_file::give_name() { return 0; }

int new_file::put_in_place(bool keep) {
  const std::wstring from = native_path(m->name), to = native_path(m->target);
  if (m->replaces) {
    // ReplaceFile keeps the rights and the attributes of what was there.
    const std::string kept = keep ? m->fresh_name() : std::string();
    const std::wstring native = keep ? native_path(kept) : std::wstring();
    if (ReplaceFileW(to.c_str(), from.c_str(), keep ? native.c_str() : nullptr, REPLACEFILE_IGNORE_MERGE_ERRORS,
                     nullptr, nullptr) != 0) {
      m->kept = kept;
      m->name.clear();
      m->own = status_of(m->target);
      return 0;
    }
  }
  // A file system without ReplaceFile, or a target that went meanwhile.
  if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) == 0) {
    const int code = last_errno();
    return code == EACCES && is_in_use(to) ? EBUSY : code;
  }
  m->name.clear();
  return 0;
}

void new_file::roll_back() {
  const file_status found = status_of(m->target);
  if (found.number != m->own.number || found.device != m->own.device) return;
  const std::wstring target = native_path(m->target);
  if (!m->kept.empty()) {
    if (MoveFileExW(native_path(m->kept).c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING) != 0) m->kept.clear();
  } else if (!m->replaces) {
    DeleteFileW(target.c_str());
  }
}

}
