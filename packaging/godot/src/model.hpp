// SPDX-License-Identifier: MIT
#pragma once
/// Models, sessions, batchers, logs and traces of the extension, in memory of their own.
#include <netsuke/c/netsuke.h>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

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

/// Elapsed time of one clock; `user` is not used.
template <class Unit>
std::int64_t now(void*) {
  return std::chrono::duration_cast<Unit>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What an object of the extension is, its first member: scripts may hand over one of another kind.
enum class kind { model, session, batcher, run_log, trace };

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

/// A trace and its text; sessions that write to it share it.
struct opened_trace {
  aligned_memory text, memory;
  std::string process;
  nsk_trace* trace = nullptr;

  ~opened_trace() {
    if (trace != nullptr) nsk_trace_close(trace);
  }
  nsk_status open(std::size_t bytes, std::string name) {
    process = std::move(name);
    return nsk_trace_open(memory.allocate(nsk_trace_required_bytes()), nsk_trace_required_bytes(),
                          static_cast<char*>(text.allocate(bytes)), bytes, process.c_str(), &trace);
  }
};

struct model_object {
  static constexpr kind is = kind::model;
  static constexpr const char* name = "NetsukeModel";
  const kind what = is;
  std::shared_ptr<opened_file> opened;
};

struct session_object {
  static constexpr kind is = kind::session;
  static constexpr const char* name = "NetsukeSession";
  const kind what = is;
  std::shared_ptr<opened_file> opened;    ///< the session reads it
  std::shared_ptr<opened_trace> watched;  ///< gets bars of the steps
  std::vector<std::int64_t> nanoseconds;  ///< of each step, while the session was watched
  aligned_memory arena, memory;
  nsk_session* session = nullptr;
  bool complete = false;

  ~session_object() { close(); }
  void close() {
    if (session != nullptr) nsk_session_close(session);
    session = nullptr;
    watched.reset();
    nanoseconds.clear();
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

  /// Notes the steps of runs from now on.
  nsk_status watch(std::shared_ptr<opened_trace> by) {
    if (const nsk_status s = unwatch(); s.code != 0) return s;
    watched = std::move(by);
    nanoseconds.assign(static_cast<std::size_t>(nsk_session_step_count(session)), 0);
    const nsk_watch how = {now<std::chrono::nanoseconds>,
                           nullptr,
                           watched->trace,
                           nanoseconds.data(),
                           static_cast<std::int32_t>(nanoseconds.size()),
                           0};
    return nsk_session_watch(session, &how, sizeof how);
  }
  /// Ends that; times of steps stay.
  nsk_status unwatch() {
    const nsk_status s = nsk_session_watch(session, nullptr, 0);
    watched.reset();
    return s;
  }
};

struct batcher_object {
  static constexpr kind is = kind::batcher;
  static constexpr const char* name = "NetsukeBatcher";
  const kind what = is;
  std::shared_ptr<opened_file> opened;                      ///< the batcher reads it
  std::vector<std::pair<std::string, std::string>> states;  ///< input and output of each
  aligned_memory memory;
  nsk_batcher* batcher = nullptr;
  std::int32_t gathered = 0;

  ~batcher_object() { close(); }
  void close() {
    if (batcher != nullptr) nsk_batcher_close(batcher);
    batcher = nullptr;
    gathered = 0;
  }
  nsk_status start(std::shared_ptr<opened_file> of, std::int32_t agents, std::int32_t slots) {
    close();
    opened = std::move(of);
    std::vector<nsk_recurrent_pair> pairs;
    for (const auto& [input, output] : states) pairs.push_back({input.c_str(), output.c_str()});
    const nsk_batcher_options how = {pairs.data(), static_cast<std::int32_t>(pairs.size()), agents, slots, 0};
    uint64_t bytes = 0;
    const nsk_status s = nsk_batcher_required_bytes(opened->model, 0, &how, sizeof how, &bytes);
    if (s.code != 0) return s;
    const std::size_t size = static_cast<std::size_t>(bytes);  // 0 is a refusal, whose reason the next call says
    return nsk_batcher_open(memory.allocate(size), size, opened->model, 0, &how, sizeof how, &batcher);
  }
  const nsk_model* model() const { return opened ? opened->model : nullptr; }
};

struct run_log_object {
  static constexpr kind is = kind::run_log;
  static constexpr const char* name = "NetsukeRunLog";
  const kind what = is;
  std::shared_ptr<opened_file> described;  ///< the log reads its name
  aligned_memory memory;
  nsk_run_log* log = nullptr;

  ~run_log_object() { close(); }
  void close() {
    if (log != nullptr) nsk_run_log_close(log);
    log = nullptr;
  }
  nsk_status start(std::int32_t runs) {
    close();
    const std::size_t bytes = runs > 0 ? nsk_run_log_required_bytes(runs) : 0;
    return nsk_run_log_open(memory.allocate(bytes), bytes, &log);
  }
};

struct trace_object {
  static constexpr kind is = kind::trace;
  static constexpr const char* name = "NetsukeTrace";
  const kind what = is;
  std::shared_ptr<opened_trace> opened;
};

/// The line of a status; "" where a call succeeded.
inline std::string line_of(nsk_status status, const nsk_model* model) {
  if (status.code == 0) return "";
  char line[2048];
  nsk_status_format(status, model, 0, line, sizeof line);
  return std::string(nsk_status_name(status.code)) + ": " + line;
}
