// SPDX-License-Identifier: MIT
#include "report/trace.hpp"

#include <nlohmann/json.hpp>

namespace nsk::tool {
namespace {
using nlohmann::json;

constexpr int stage_track = 0, step_track = 1, first_lane_track = 2;

json event(const std::string& name, const char* category, double begin_us, double end_us, int track) {
  return {{"name", name}, {"cat", category}, {"ph", "X"}, {"ts", begin_us}, {"dur", end_us - begin_us},
          {"pid", 1},     {"tid", track}};
}

json track_name(int track, const std::string& name) {
  return {{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", track}, {"args", {{"name", name}}}};
}

}

std::string trace_json(const model& m, const std::vector<step_event>& steps, double start_us,
                       const std::vector<stage_event>& stages) {
  json events = json::array({track_name(stage_track, "nsk run"), track_name(step_track, "steps")});
  int lanes = 0;
  for (const stage_event& s : stages) events.push_back(event(s.name, "stage", s.begin_us, s.end_us, stage_track));
  for (const step_event& e : steps) {
    const step_view s = m.variant().step(e.step);
    const int track = e.lane < 0 ? step_track : first_lane_track + e.lane;
    lanes = std::max(lanes, e.lane + 1);
    json entry = event(*s.name() ? s.name() : name_of(s.op()), name_of(s.op()), start_us + e.begin_us,
                       start_us + e.end_us, track);
    std::size_t bytes = s.output().bytes();
    for (int i = 0; i < s.input_count(); ++i) bytes += s.input(i).bytes();
    entry["args"] = {{"step", e.step}, {"operator", name_of(s.op())}, {"macs", s.macs()}, {"bytes", bytes}};
    events.push_back(std::move(entry));
  }
  for (int lane = 0; lane < lanes; ++lane)
    events.push_back(track_name(first_lane_track + lane, "lane " + std::to_string(lane)));
  return json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump();
}

}
