// SPDX-License-Identifier: MIT
// The classes NetsukeRunLog and NetsukeTrace of Godot. All times are nanoseconds.
#include <algorithm>
#include "classes.hpp"

using namespace godot_api;

namespace {

// --- NetsukeRunLog ---

run_log_object& log_of(void* self) { return *static_cast<run_log_object*>(self); }

void log_start(void* self, const void* const* arguments, void* result) {
  say(log_of(self).start(index(arguments[0])), nullptr, result);
}
void log_describe(void* self, const void* const* arguments, void* result) {
  const auto* const model = object_of<model_object>(arguments[0]);
  if (model == nullptr || !model->opened)
    return put(result, "bad_handle: describe takes a NetsukeModel whose open() returned \"\"");
  const nsk_status s = nsk_run_log_describe(log_of(self).log, model->opened->model, 0, 1);
  if (s.code == 0) log_of(self).described = model->opened;
  say(s, model->opened->model, result);
}
void log_slice(void* self, const void* const* arguments, void* result) {
  say(nsk_run_log_slice(log_of(self).log, number(arguments[0]), truth(arguments[1]) ? 1 : 0), nullptr, result);
}
void log_runs(void* self, const void* const*, void* result) {
  put(result, static_cast<std::int64_t>(nsk_run_log_runs(log_of(self).log)));
}
void log_percentile(void* self, const void* const* arguments, void* result) {
  put(result, nsk_run_log_percentile(log_of(self).log, index(arguments[0])));
}
void log_worst_slice(void* self, const void* const*, void* result) {
  put(result, nsk_run_log_worst_slice(log_of(self).log));
}
void log_line(void* self, const void* const*, void* result) {
  char line[2049] = "";
  nsk_run_log_line(log_of(self).log, line, sizeof line);
  put(result, line);
}
void log_clear(void* self, const void* const*, void* result) {
  say(nsk_run_log_clear(log_of(self).log), nullptr, result);
}

const method log_methods[] = {
    {"start", string_type, {{"runs", int_type, nullptr}}, log_start},
    {"describe", string_type, {{"model", object_type, model_object::name}}, log_describe},
    {"slice", string_type, {{"nanoseconds", int_type, nullptr}, {"complete", bool_type, nullptr}}, log_slice},
    {"runs", int_type, {}, log_runs},
    {"percentile", int_type, {{"percent", int_type, nullptr}}, log_percentile},
    {"worst_slice", int_type, {}, log_worst_slice},
    {"line", string_type, {}, log_line},
    {"clear", string_type, {}, log_clear},
};

// --- NetsukeTrace ---

nsk_trace* trace_of(void* self) {
  const auto& opened = static_cast<trace_object*>(self)->opened;
  return opened ? opened->trace : nullptr;
}

void trace_start(void* self, const void* const* arguments, void* result) {
  auto opened = std::make_shared<opened_trace>();
  const nsk_status s = opened->open(static_cast<std::size_t>(std::max(0, index(arguments[0]))), text(arguments[1]));
  if (s.code == 0) static_cast<trace_object*>(self)->opened = std::move(opened);
  say(s, nullptr, result);
}
void trace_now(void*, const void* const*, void* result) { put(result, now<std::chrono::nanoseconds>(nullptr)); }
void trace_stage(void* self, const void* const* arguments, void* result) {
  say(nsk_trace_add_stage(trace_of(self), index(arguments[0]), number(arguments[1]), number(arguments[2])), nullptr,
      result);
}
void trace_add(void* self, const void* const* arguments, void* result) {
  say(nsk_trace_add(trace_of(self), text(arguments[0]).c_str(), "", index(arguments[1]), number(arguments[2]),
                    number(arguments[3])),
      nullptr, result);
}
void trace_name_track(void* self, const void* const* arguments, void* result) {
  say(nsk_trace_name_track(trace_of(self), index(arguments[0]), text(arguments[1]).c_str()), nullptr, result);
}
/// The JSON so far; the next bar begins another one.
void trace_finish(void* self, const void* const*, void* result) {
  const char* json = nullptr;
  std::size_t size = 0;
  if (nsk_trace_finish(trace_of(self), &json, &size).code != 0) return put(result, "");
  put(result, std::string(json, size).c_str());
  nsk_trace_restart(trace_of(self), static_cast<trace_object*>(self)->opened->process.c_str());
}
void trace_dropped(void* self, const void* const*, void* result) {
  put(result, static_cast<std::int64_t>(nsk_trace_dropped(trace_of(self))));
}

constexpr argument track = {"track", int_type, nullptr}, begin = {"begin", int_type, nullptr},
                   end = {"end", int_type, nullptr}, name = {"name", string_type, nullptr};
const method trace_methods[] = {
    {"start", string_type, {{"bytes", int_type, nullptr}, {"process", string_type, nullptr}}, trace_start},
    {"now", int_type, {}, trace_now},
    {"stage", string_type, {{"stage", int_type, nullptr}, begin, end}, trace_stage},
    {"add", string_type, {name, track, begin, end}, trace_add},
    {"name_track", string_type, {track, name}, trace_name_track},
    {"finish", string_type, {}, trace_finish},
    {"dropped", int_type, {}, trace_dropped},
};

}

void register_logs() {
  register_object<run_log_object>(log_methods);
  register_object<trace_object>(trace_methods);
}
