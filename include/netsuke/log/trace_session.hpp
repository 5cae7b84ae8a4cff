// SPDX-License-Identifier: MIT
#pragma once
/// What a session does, as bars of a trace: stages by trace_scope, steps by a profiler, lanes by a job system around
/// the game's.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/log/trace_writer.hpp>

NSK_BEGIN
/// Writes a stage, from here to the end of the block of code. A clock is called as clock() and returns nanoseconds
/// since any moment that stays the same.
template <class Writer, class Clock>
class trace_scope {
 public:
  trace_scope(Writer& to, const Clock& clock, trace_stage stage)
      : m_to(to), m_clock(clock), m_stage(stage), m_begin(m_clock()) {}
  ~trace_scope() { m_to.stage(m_stage, m_begin, m_clock()); }
  trace_scope(const trace_scope&) = delete;
  trace_scope& operator=(const trace_scope&) = delete;

 private:
  Writer& m_to;
  Clock m_clock;
  trace_stage m_stage;
  std::int64_t m_begin;
};

/// The profiler of a settings type whose session is traced: `using profiler = nsk::trace_profiler<my_clock>;` with a
/// class that needs no arguments to be made and is called by all lanes. Before attach() and after detach() it costs one
/// comparison per step.
template <class Clock, class Writer = trace_writer<>>
class trace_profiler {
 public:
  /// Writes the steps of `v`, the session's variant, to `to` from now on.
  void attach(Writer& to, const variant_view& v) {
    m_to = &to;
    m_variant = v;
  }
  void detach() { m_to = nullptr; }
  bool attached() const { return m_to != nullptr; }
  std::int64_t now() const { return Clock()(); }

  void begin(int step) {
    if (!m_to) return;
    m_step = step;
    m_begin = now();
  }
  void end(int step) {
    if (m_to) m_to->step(m_variant.step(step), step, m_begin, now());
  }
  /// Writes what a lane did of the step that runs.
  void lane(int number, std::int64_t begin, std::int64_t end) {
    if (m_to) m_to->step(m_variant.step(m_step), m_step, begin, end, number);
  }

 private:
  Writer* m_to = nullptr;
  variant_view m_variant;
  int m_step = 0;
  std::int64_t m_begin = 0;
};

/// The game's job system with a clock around every lane: net.run(nsk::traced_jobs(jobs, net.profiler()), lanes). Lanes
/// write nothing but their times; the thread that drives the session writes the bars. Lanes from max_lanes on run
/// without bars.
template <class Jobs, class Profiler>
class traced_jobs {
 public:
  static constexpr int max_lanes = 64;
  traced_jobs(Jobs& jobs, Profiler& profiler) : m_jobs(jobs), m_profiler(profiler) {}

  template <class F>
  void parallel_for(int count, const F& f) {
    if (!m_profiler.attached()) return m_jobs.parallel_for(count, f);
    m_jobs.parallel_for(count, [&](int lane) {
      const std::int64_t begin = m_profiler.now();
      f(lane);
      if (lane < max_lanes) m_times[lane] = {begin, m_profiler.now()};
    });
    for (int lane = 0; lane < count && lane < max_lanes; ++lane)
      m_profiler.lane(lane, m_times[lane].begin, m_times[lane].end);
  }

 private:
  struct interval {
    std::int64_t begin = 0, end = 0;
  };
  Jobs& m_jobs;
  Profiler& m_profiler;
  interval m_times[max_lanes];
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
