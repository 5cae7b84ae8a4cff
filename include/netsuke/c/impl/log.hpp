// SPDX-License-Identifier: MIT
#pragma once
/// Logs, traces and profiles through the C interface.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstring>
#include <netsuke/c/impl/library.hpp>
#include <netsuke/c/impl/model.hpp>

#if defined(NSK_C_IMPLEMENTATION)
NSK_BEGIN
namespace impl {

static_assert(static_cast<int>(trace_stage::output) == nsk_stage_output &&
                  std::int32_t{step_track} == nsk_track_steps && std::int32_t{first_lane_track} == nsk_track_first_lane,
              "the enumerations of netsuke/c/log.h list the values of the C++ library's");

inline constexpr std::size_t c_run_log_head = (sizeof(nsk_run_log) + 15) / 16 * 16;

/// Adds a step to the sums, and writes its bar.
inline void c_note(const c_watch& watch, int step, int lane, std::int64_t begin, std::int64_t end) {
  const nsk_watch& asked = watch.asked;
  if (asked.step_nanoseconds != nullptr && lane < 0 && step < asked.steps) asked.step_nanoseconds[step] += end - begin;
  if (c_is_handle(asked.trace)) asked.trace->writer.step(watch.variant.step(step), step, begin, end, lane);
}

}
NSK_END

extern "C" {
size_t nsk_run_log_required_bytes(int32_t runs) noexcept {
  return nsk::impl::c_run_log_head + nsk::run_log::required_bytes(runs < 1 << 20 ? runs : 1 << 20);
}
nsk_status nsk_run_log_open(void* memory, size_t memory_bytes, nsk_run_log** log) noexcept {
  if (log == nullptr) return nsk::impl::c_bad_argument(2);
  *log = nullptr;
  if (const nsk_status s = nsk::impl::c_check_memory<nsk_run_log>(memory, memory_bytes); s.code != 0) return s;
  if (memory_bytes < nsk_run_log_required_bytes(1)) return nsk::impl::c_bad_argument(1);
  constexpr std::size_t head = nsk::impl::c_run_log_head;
  nsk_run_log opened = {0, nsk::run_log({static_cast<std::byte*>(memory) + head, memory_bytes - head})};
  *log = nsk::impl::c_make_handle(memory, opened);
  return {nsk_status_ok, -1};
}
nsk_status nsk_run_log_close(nsk_run_log* log) noexcept { return nsk::impl::c_close(log); }
nsk_status nsk_run_log_describe(nsk_run_log* log, const nsk_model* model, int32_t variant, int32_t lanes) noexcept {
  if (!nsk::impl::c_is_handle(log)) return nsk::impl::c_bad_handle();
  uint64_t bytes = 0;
  if (const nsk_status s = nsk_arena_required_bytes(model, variant, lanes, &bytes); s.code == nsk_status_bad_argument)
    return nsk::impl::c_bad_argument(3);
  else if (s.code != 0)
    return s;
  log->runs.describe(model->view, lanes, variant);
  return {nsk_status_ok, -1};
}
nsk_status nsk_run_log_slice(nsk_run_log* log, int64_t nanoseconds, int32_t complete) noexcept {
  if (!nsk::impl::c_is_handle(log)) return nsk::impl::c_bad_handle();
  log->runs.slice(nanoseconds, complete != 0);
  return {nsk_status_ok, -1};
}
uint64_t nsk_run_log_runs(const nsk_run_log* log) noexcept {
  return nsk::impl::c_is_handle(log) ? log->runs.runs() : 0;
}
int64_t nsk_run_log_percentile(const nsk_run_log* log, int32_t percent) noexcept {
  return nsk::impl::c_is_handle(log) ? log->runs.percentile(percent) : 0;
}
int64_t nsk_run_log_worst_slice(const nsk_run_log* log) noexcept {
  return nsk::impl::c_is_handle(log) ? log->runs.worst_slice() : 0;
}
size_t nsk_run_log_line(const nsk_run_log* log, char* text, size_t text_bytes) noexcept {
  if (text == nullptr || text_bytes == 0) return 0;
  const size_t size = nsk::impl::c_is_handle(log) ? log->runs.line({text, text_bytes - 1}).size() : 0;
  text[size] = 0;
  return size;
}
nsk_status nsk_run_log_clear(nsk_run_log* log) noexcept {
  if (!nsk::impl::c_is_handle(log)) return nsk::impl::c_bad_handle();
  log->runs.clear();
  return {nsk_status_ok, -1};
}

size_t nsk_trace_required_bytes(void) noexcept { return sizeof(nsk_trace); }
nsk_status nsk_trace_open(void* memory, size_t memory_bytes, char* text, size_t text_bytes, const char* process,
                          nsk_trace** trace) noexcept {
  if (trace == nullptr) return nsk::impl::c_bad_argument(5);
  *trace = nullptr;
  if (const nsk_status s = nsk::impl::c_check_memory<nsk_trace>(memory, memory_bytes); s.code != 0) return s;
  if (text == nullptr) return nsk::impl::c_bad_argument(2);
  if (process == nullptr) return nsk::impl::c_bad_argument(4);
  nsk_trace opened = {0, nsk::trace_writer<>({text, text_bytes}, process)};
  *trace = nsk::impl::c_make_handle(memory, opened);
  return {nsk_status_ok, -1};
}
nsk_status nsk_trace_close(nsk_trace* trace) noexcept { return nsk::impl::c_close(trace); }
nsk_status nsk_trace_add_stage(nsk_trace* trace, int32_t stage, int64_t begin, int64_t end) noexcept {
  if (!nsk::impl::c_is_handle(trace)) return nsk::impl::c_bad_handle();
  if (stage < nsk_stage_input || stage > nsk_stage_output) return nsk::impl::c_bad_argument(1);
  trace->writer.stage(static_cast<nsk::trace_stage>(stage), begin, end);
  return {nsk_status_ok, -1};
}
nsk_status nsk_trace_add(nsk_trace* trace, const char* name, const char* category, int32_t track, int64_t begin,
                         int64_t end) noexcept {
  if (!nsk::impl::c_is_handle(trace)) return nsk::impl::c_bad_handle();
  if (name == nullptr) return nsk::impl::c_bad_argument(1);
  if (category == nullptr) return nsk::impl::c_bad_argument(2);
  if (track < 0) return nsk::impl::c_bad_argument(3);
  nsk::trace_event event;
  event.name = name;
  event.category = category;
  event.track = track;
  event.begin = begin;
  event.end = end;
  trace->writer.add(event);
  return {nsk_status_ok, -1};
}
nsk_status nsk_trace_name_track(nsk_trace* trace, int32_t track, const char* name) noexcept {
  if (!nsk::impl::c_is_handle(trace)) return nsk::impl::c_bad_handle();
  if (track < 0) return nsk::impl::c_bad_argument(1);
  if (name == nullptr) return nsk::impl::c_bad_argument(2);
  trace->writer.name_track(track, name);
  return {nsk_status_ok, -1};
}
nsk_status nsk_trace_finish(nsk_trace* trace, const char** json, size_t* bytes) noexcept {
  if (!nsk::impl::c_is_handle(trace)) return nsk::impl::c_bad_handle();
  if (json == nullptr) return nsk::impl::c_bad_argument(1);
  if (bytes == nullptr) return nsk::impl::c_bad_argument(2);
  const nsk::span<const char> text = trace->writer.finish();
  *json = text.data();
  *bytes = text.size();
  return {nsk_status_ok, -1};
}
nsk_status nsk_trace_restart(nsk_trace* trace, const char* process) noexcept {
  if (!nsk::impl::c_is_handle(trace)) return nsk::impl::c_bad_handle();
  if (process == nullptr) return nsk::impl::c_bad_argument(1);
  trace->writer.restart(process);
  return {nsk_status_ok, -1};
}
uint64_t nsk_trace_dropped(const nsk_trace* trace) noexcept {
  return nsk::impl::c_is_handle(trace) ? trace->writer.dropped() : 0;
}

nsk_status nsk_session_watch(nsk_session* session, const nsk_watch* watch, size_t watch_bytes) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  nsk::impl::c_watch& noted = session->net.profiler().watch;
  noted.note = nullptr;
  if (watch == nullptr) return {nsk_status_ok, -1};
  if (watch_bytes < sizeof *watch) return nsk::impl::c_bad_argument(2);
  if (watch->clock == nullptr || watch->steps < 0) return nsk::impl::c_bad_argument(1);
  if (watch->trace != nullptr && !nsk::impl::c_is_handle(watch->trace)) return nsk::impl::c_bad_handle();
  noted = {nsk::impl::c_note, *watch, session->net.variant()};
  return {nsk_status_ok, -1};
}
int32_t nsk_model_step_count(const nsk_model* model, int32_t variant) noexcept {
  return nsk::impl::c_has_variant(model, variant) ? model->view.variant(variant).step_count() : -1;
}
nsk_status nsk_model_step(const nsk_model* model, int32_t variant, int32_t number, nsk_step* step,
                          size_t step_bytes) noexcept {
  if (const nsk_status s = nsk::impl::c_check_variant(model, variant); s.code != 0) return s;
  const nsk::variant_view v = model->view.variant(variant);
  if (number < 0 || number >= v.step_count()) return nsk::impl::c_bad_argument(2);
  if (step == nullptr) return nsk::impl::c_bad_argument(3);
  if (step_bytes < sizeof *step) return nsk::impl::c_bad_argument(4);
  const nsk::step_view from = v.step(number);
  nsk_step given = {from.name(), nsk::name_of(from.op()), from.macs(), from.output().bytes()};
  for (int i = 0; i < from.input_count(); ++i) given.bytes += from.input(i).bytes();
  std::memset(static_cast<void*>(step), 0, step_bytes);
  std::memcpy(step, &given, sizeof given);
  return {nsk_status_ok, -1};
}
}
#endif
#include <netsuke/core/restore_macros.hpp>
