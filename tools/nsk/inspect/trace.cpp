// SPDX-License-Identifier: MIT
#include "inspect/trace.hpp"

#include <netsuke/log/trace_writer.hpp>

#include <algorithm>
#include <cmath>

namespace nsk::tool {
namespace {

/// Collects the pieces of a trace.
struct text_sink {
  std::string* text;
  void operator()(span<const char> piece) const { text->append(piece.data(), piece.size()); }
};

std::int64_t nanoseconds(double us) { return std::llround(us * 1e3); }

}

std::string trace_json(const model& m, const std::vector<step_event>& steps, double start_us,
                       const std::vector<stage_event>& stages) {
  std::string text;
  std::vector<char> block(trace_writer<>::max_event_bytes);
  trace_writer trace(block, text_sink{&text}, "nsk");
  trace.name_track(stage_track, "stages");
  trace.name_track(step_track, "steps");
  int lanes = 0;
  for (const step_event& e : steps) lanes = std::max(lanes, e.lane + 1);
  for (int lane = 0; lane < lanes; ++lane) trace.name_lane(lane);
  for (const stage_event& s : stages) {
    trace_event e;
    e.name = s.name.c_str();
    e.category = "stage";
    e.begin = nanoseconds(s.begin_us);
    e.end = nanoseconds(s.end_us);
    trace.add(e);
  }
  for (const step_event& e : steps)
    trace.step(m.variant().step(e.step), e.step, nanoseconds(start_us + e.begin_us), nanoseconds(start_us + e.end_us),
               e.lane);
  (void)trace.finish();
  return text;
}

}
