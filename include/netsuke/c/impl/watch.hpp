// SPDX-License-Identifier: MIT
#pragma once
/// What the C interface notes of the steps of a session: the profiler of its sessions.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/c/netsuke.h>
#include <netsuke/format/variant_view.hpp>

#if defined(NSK_C_IMPLEMENTATION)
NSK_BEGIN
namespace impl {

struct c_watch;
/// Notes that a step, or the share of it that a lane computed, ran from `begin` to `end`; `lane` is -1 for the step.
using c_note_function = void(const c_watch& watch, int step, int lane, std::int64_t begin, std::int64_t end);

/// What nsk_session_watch asked for. Its function is behind a pointer: programs that watch nothing do not link traces.
struct c_watch {
  c_note_function* note = nullptr;
  nsk_watch asked = {};
  variant_view variant;
};

/// Calls the profiler of the program's settings, `Own`, and notes steps where the session is watched.
template <class Own>
class c_profiler {
 public:
  void begin(int step) {
    m_own.begin(step);
    if (!watch.note) return;
    m_step = step;
    m_begin = now();
  }
  void end(int step) {
    if (watch.note) watch.note(watch, step, -1, m_begin, now());
    m_own.end(step);
  }
  // What traced_jobs asks for.
  bool attached() const { return watch.note != nullptr; }
  std::int64_t now() const { return watch.asked.clock(watch.asked.clock_user); }
  void lane(int number, std::int64_t begin, std::int64_t end) const {
    if (watch.note) watch.note(watch, m_step, number, begin, end);
  }

  c_watch watch;

 private:
  Own m_own{};
  int m_step = 0;
  std::int64_t m_begin = 0;
};

}
NSK_END
#endif
#include <netsuke/core/restore_macros.hpp>
