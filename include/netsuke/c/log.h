/* SPDX-License-Identifier: MIT */
#ifndef NETSUKE_C_LOG_H
#define NETSUKE_C_LOG_H
/*
 * Logs, traces and profiles through the C interface, a part of netsuke/c/netsuke.h. All times are nanoseconds.
 *
 *     s = nsk_run_log_open(memory, nsk_run_log_required_bytes(256), &log);        the last 256 runs
 *     s = nsk_run_log_slice(log, end - begin, complete);                          every frame
 *     n = nsk_run_log_line(log, text, sizeof text);                               once a minute: a line of JSON
 *
 *     s = nsk_trace_open(memory, nsk_trace_required_bytes(), text, sizeof text, "my game", &trace);
 *     nsk_watch watch = {clock, NULL, trace, sums, step_count, 0};
 *     s = nsk_session_watch(net, &watch, sizeof watch);       bars of steps, and their times in sums
 *     s = nsk_session_run(net, &jobs);
 *     s = nsk_session_watch(net, NULL, 0);
 *     s = nsk_trace_finish(trace, &json, &bytes);             for ui.perfetto.dev
 *
 * docs/guide/logs.md says what the fields of a line and the tracks of a trace are.
 */
#include <netsuke/c/base.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* --- times of the last runs --- */

/* Returns the bytes of memory of a log, at a multiple of nsk_handle_alignment, that keeps so many runs, 1 to 2^20. */
NSK_C_API size_t nsk_run_log_required_bytes(int32_t runs) NSK_C_NOEXCEPT;
/* Makes a log of as many runs as the memory takes, one at least. On failure *log is null. */
NSK_C_API nsk_status nsk_run_log_open(void* memory, size_t memory_bytes, nsk_run_log** log) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_run_log_close(nsk_run_log* log) NSK_C_NOEXCEPT;
/* Adds name and bytes of a model to the lines; the file's bytes must outlive the log. */
NSK_C_API nsk_status nsk_run_log_describe(nsk_run_log* log, const nsk_model* model, int32_t variant,
                                          int32_t lanes) NSK_C_NOEXCEPT;
/* Adds one part of a run; `complete` is 1 for the last part, or for a run that was not divided. */
NSK_C_API nsk_status nsk_run_log_slice(nsk_run_log* log, int64_t nanoseconds, int32_t complete) NSK_C_NOEXCEPT;
/* Return the complete runs since the beginning; the shortest time that `percent` (1 to 100) percent of the runs kept do
 * not exceed; the longest slice of these. 0 without runs and for a bad handle. */
NSK_C_API uint64_t nsk_run_log_runs(const nsk_run_log* log) NSK_C_NOEXCEPT;
NSK_C_API int64_t nsk_run_log_percentile(const nsk_run_log* log, int32_t percent) NSK_C_NOEXCEPT;
NSK_C_API int64_t nsk_run_log_worst_slice(const nsk_run_log* log) NSK_C_NOEXCEPT;
/* Writes a line of JSON, a new line and a zero to `text`; returns the bytes in front of the zero, 0 where the text has
 * no space for all of it. 2049 bytes are always enough. */
NSK_C_API size_t nsk_run_log_line(const nsk_run_log* log, char* text, size_t text_bytes) NSK_C_NOEXCEPT;
/* Forgets all runs. */
NSK_C_API nsk_status nsk_run_log_clear(nsk_run_log* log) NSK_C_NOEXCEPT;

/* --- traces --- */

/* What a game does with a network in a frame. */
enum nsk_trace_stage { nsk_stage_input, nsk_stage_inference, nsk_stage_output };
/* Tracks from top to bottom: stages, steps, then one for each lane. */
enum nsk_trace_track { nsk_track_stages, nsk_track_steps, nsk_track_first_lane };

/* Returns the bytes of memory of a trace's handle. */
NSK_C_API size_t nsk_trace_required_bytes(void) NSK_C_NOEXCEPT;
/* Begins a trace whose JSON is kept in `text`. What comes first is kept: a bar without space is left out whole, and
 * counted. On failure *trace is null. */
NSK_C_API nsk_status nsk_trace_open(void* memory, size_t memory_bytes, char* text, size_t text_bytes,
                                    const char* process, nsk_trace** trace) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_trace_close(nsk_trace* trace) NSK_C_NOEXCEPT;
/* Writes a stage of a frame. */
NSK_C_API nsk_status nsk_trace_add_stage(nsk_trace* trace, int32_t stage, int64_t begin, int64_t end) NSK_C_NOEXCEPT;
/* Writes a bar of the game's own on any track from 0 on; and the name of a track. */
NSK_C_API nsk_status nsk_trace_add(nsk_trace* trace, const char* name, const char* category, int32_t track,
                                   int64_t begin, int64_t end) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_trace_name_track(nsk_trace* trace, int32_t track, const char* name) NSK_C_NOEXCEPT;
/* Ends the JSON and gives it: a part of the trace's text, without a zero behind it; empty where that was too short for
 * the beginning. Bars after it are left out until nsk_trace_restart begins anew in the same text. */
NSK_C_API nsk_status nsk_trace_finish(nsk_trace* trace, const char** json, size_t* bytes) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_trace_restart(nsk_trace* trace, const char* process) NSK_C_NOEXCEPT;
/* Returns how many bars were left out; 0 for a bad handle. */
NSK_C_API uint64_t nsk_trace_dropped(const nsk_trace* trace) NSK_C_NOEXCEPT;

/* --- what a session does --- */

/* What is noted of a session's steps. What it names must outlive the watching. */
typedef struct nsk_watch {
  nsk_clock clock; /* returns nanoseconds; lanes call it, too */
  void* clock_user;
  nsk_trace* trace;          /* gets a bar for each step, and one for each lane's share of it; may be null */
  int64_t* step_nanoseconds; /* sums, to each of which the time of its step is added; may be null */
  int32_t steps;             /* how many sums there are; steps beyond are not added */
  int32_t reserved;
} nsk_watch;

/* Notes the steps of all runs from now on, but for nsk_session_run_tile; a null `watch` ends it. Without, a step costs
 * one comparison. The bits of the results stay. */
NSK_C_API nsk_status nsk_session_watch(nsk_session* session, const nsk_watch* watch, size_t watch_bytes) NSK_C_NOEXCEPT;

/* A step of a model's plan. Texts are valid as long as the file's bytes. */
typedef struct nsk_step {
  const char* name;    /* of the nodes of the source model that it computes */
  const char* op_name; /* "Conv2D" */
  uint64_t macs;       /* multiply-accumulates */
  uint64_t bytes;      /* of what it reads and writes */
} nsk_step;

/* -1 for a bad handle or variant. */
NSK_C_API int32_t nsk_model_step_count(const nsk_model* model, int32_t variant) NSK_C_NOEXCEPT;
/* Fills *step. Pass sizeof(nsk_step) as step_bytes. */
NSK_C_API nsk_status nsk_model_step(const nsk_model* model, int32_t variant, int32_t number, nsk_step* step,
                                    size_t step_bytes) NSK_C_NOEXCEPT;

#if defined(__cplusplus)
}
#endif
#endif
