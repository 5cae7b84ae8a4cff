// SPDX-License-Identifier: MIT
#pragma once
/// Traces for chrome://tracing and ui.perfetto.dev.
#include <netsuke/model/model.hpp>
#include <chrono>
#include <string>
#include <vector>
#include "engine/engine.hpp"

namespace nsk::tool {

/// What a command did between two moments, in microseconds since it began.
struct stage_event {
  std::string name;
  double begin_us, end_us;
};

/// Divides the time of a command into stages.
class stage_clock {
 public:
  stage_clock() : m_start(clock::now()) {}
  double now() const { return std::chrono::duration<double, std::micro>(clock::now() - m_start).count(); }
  /// Ends the stage that began with the previous one's end.
  void end(const std::string& name) {
    const double at = now();
    m_events.push_back({name, m_last, at});
    m_last = at;
  }
  const std::vector<stage_event>& events() const { return m_events; }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point m_start;
  double m_last = 0;
  std::vector<stage_event> m_events;
};

/// Returns the trace event format: stages, steps with their operator, MACs and bytes, and lanes on their own tracks.
/// `start_us` is the moment from which the steps' times count.
std::string trace_json(const model& m, const std::vector<step_event>& steps, double start_us,
                       const std::vector<stage_event>& stages);

}
