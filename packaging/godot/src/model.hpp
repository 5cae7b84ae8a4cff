// SPDX-License-Identifier: MIT
#pragma once
/// Models and sessions of the extension, in memory of their own.
#include <netsuke/c/netsuke.h>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>

/// Memory at a multiple of 64 bytes.
class aligned_memory {
 public:
  void* allocate(std::size_t bytes) {
    m_block.reset(::operator new (bytes + 1, std::align_val_t{64}));
    return m_block.get();
  }
  void* get() const { return m_block.get(); }

 private:
  struct deleter {
    void operator()(void* block) const { ::operator delete (block, std::align_val_t{64}); }
  };
  std::unique_ptr<void, deleter> m_block;
};

/// What an object of the extension is: scripts may hand over one of the other kind.
enum class kind { model, session };

/// A verified file; sessions share it.
struct opened_file {
  aligned_memory file, memory;
  nsk_model* model = nullptr;

  ~opened_file() {
    if (model != nullptr) nsk_model_close(model);
  }
  /// Copies the bytes of a file and opens them; a small one is expanded.
  nsk_status open(const void* bytes, std::size_t size) {
    if (const nsk_status s = nsk_check_library(NSK_C_VERSION); s.code != 0) return s;
    aligned_memory given;
    if (size > 0) std::memcpy(given.allocate(size), bytes, size);
    const std::size_t expanded = size > 0 ? nsk_prepare_required_bytes(given.get(), size) : 0;
    if (expanded != 0) {
      file.allocate(expanded);
      if (const nsk_status s = nsk_prepare(given.get(), size, file.get(), expanded); s.code != 0) return s;
      size = expanded;
    } else {
      file = std::move(given);
      if (size == 0) file.allocate(0);
    }
    return nsk_model_open(memory.allocate(nsk_model_required_bytes()), nsk_model_required_bytes(), file.get(), size, 0,
                          &model);
  }
};

struct model_object {
  const kind what = kind::model;
  std::shared_ptr<opened_file> opened;
};

struct session_object {
  const kind what = kind::session;
  std::shared_ptr<opened_file> opened;  ///< the session reads it
  aligned_memory arena, memory;
  nsk_session* session = nullptr;
  bool complete = false;

  ~session_object() { close(); }
  void close() {
    if (session != nullptr) nsk_session_close(session);
    session = nullptr;
  }
  nsk_status start(std::shared_ptr<opened_file> of) {
    close();
    uint64_t bytes = 0;
    opened = std::move(of);
    if (const nsk_status s = nsk_arena_required_bytes(opened->model, 0, 1, &bytes); s.code != 0) return s;
    void* const block = arena.allocate(static_cast<std::size_t>(bytes));
    return nsk_session_open(memory.allocate(nsk_session_required_bytes()), nsk_session_required_bytes(), opened->model,
                            0, block, static_cast<std::size_t>(bytes), &session);
  }
  const nsk_model* model() const { return opened ? opened->model : nullptr; }
};

/// The line of a status; "" where a call succeeded.
inline std::string line_of(nsk_status status, const nsk_model* model) {
  if (status.code == 0) return "";
  char line[2048];
  nsk_status_format(status, model, 0, line, sizeof line);
  return std::string(nsk_status_name(status.code)) + ": " + line;
}
