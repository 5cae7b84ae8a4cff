/* SPDX-License-Identifier: MIT */
#ifndef NETSUKE_C_NETSUKE_H
#define NETSUKE_C_NETSUKE_H
/*
 * netsuke for C, and for every language that can call C: C99 and C++.
 *
 * The functions are compiled where one .cpp file of the program says so, with the settings type that it wants:
 *
 *     #include <netsuke/all_ops.hpp>
 *     #define NSK_C_IMPLEMENTATION nsk::all_settings
 *     #include <netsuke/c/netsuke.h>
 *
 * The library netsuke_c (CMake, Meson) is that file, as a shared library. A program:
 *
 *     nsk_status s = nsk_check_library(NSK_C_VERSION);
 *     nsk_model* model;
 *     nsk_session* net;
 *     uint64_t bytes;
 *     if (s.code == 0) s = nsk_model_open(memory_1, nsk_model_required_bytes(), file, file_bytes, 0, &model);
 *     if (s.code == 0) s = nsk_arena_required_bytes(model, 0, 1, &bytes);
 *     if (s.code == 0) s = nsk_session_open(memory_2, nsk_session_required_bytes(), model, 0, arena, bytes, &net);
 *
 *     if (s.code == 0) s = nsk_session_write(net, 0, pixels, pixel_bytes);
 *     if (s.code == 0) s = nsk_session_run(net, NULL);
 *     if (s.code == 0) s = nsk_session_read(net, 0, scores, score_bytes);
 *     if (s.code != 0) puts(nsk_status_text(s.code));
 *
 * netsuke/c/image.h, batcher.h and log.h belong to it: frames in and out, rows of many agents, times and traces.
 *
 * - *Memory* is the caller's: handles, arenas and files are where the caller puts them, and stay there, at the same
 *   address, until the handle is closed. Nothing is allocated.
 * - *Errors* are an nsk_status; no function throws, and arguments are checked in every build. A handle that is null,
 *   closed, moved or of another kind gives nsk_status_bad_handle. Functions without a status return what their
 *   comment says then.
 * - *Threads*: a session, a log and a trace belong to one thread at a time, and share nothing that changes; a batcher
 *   is asked from any thread.
 * - *Names and texts* are UTF-8. What a model returns is valid as long as the file's bytes.
 * - The bits of the results are those of the C++ library.
 */
#include <netsuke/c/base.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* --- library --- */

/* Compares the caller's header (pass NSK_C_VERSION) with the library, and the library's instruction set with this
 * processor. Call it first. */
NSK_C_API nsk_status nsk_check_library(uint32_t c_version) NSK_C_NOEXCEPT;
/* Returns NSK_C_VERSION of the library; its own version ("0.1.0"); the version of files that it reads; its instruction
 * set ("avx2"). */
NSK_C_API uint32_t nsk_c_version(void) NSK_C_NOEXCEPT;
NSK_C_API const char* nsk_library_version(void) NSK_C_NOEXCEPT;
NSK_C_API uint32_t nsk_format_version(void) NSK_C_NOEXCEPT;
NSK_C_API const char* nsk_library_isa(void) NSK_C_NOEXCEPT;
/* Return the multiple of bytes at which memory must start: for handles, for arenas, for a file's bytes. */
NSK_C_API size_t nsk_handle_alignment(void) NSK_C_NOEXCEPT;
NSK_C_API size_t nsk_arena_alignment(void) NSK_C_NOEXCEPT;
NSK_C_API size_t nsk_file_alignment(void) NSK_C_NOEXCEPT;
/* Returns how many bytes behind a bound input must be readable (nsk_session_bind_input). */
NSK_C_API size_t nsk_over_read_bytes(void) NSK_C_NOEXCEPT;

/* --- model --- */

/* Element types. */
enum nsk_type {
  nsk_type_float32,
  nsk_type_float16,
  nsk_type_int8,
  nsk_type_uint8,
  nsk_type_int16,
  nsk_type_int32,
  nsk_type_int64,
  nsk_type_boolean
};

/* An input or output: dense elements; images are [N, H, W, C]. Pointers are valid as long as the file's bytes. */
typedef struct nsk_port {
  const char* name;
  const int32_t* shape;        /* rank lengths */
  const int64_t* source_shape; /* source_rank lengths: the shape in the source model */
  const float* mean;           /* normalisation_count values: x = (u8 - mean) / deviation per channel */
  const float* deviation;
  const char* color; /* "rgb", "bgr", "grey" or "" */
  uint64_t elements;
  uint64_t bytes;
  int32_t type; /* enum nsk_type */
  int32_t rank;
  int32_t source_rank;
  int32_t normalisation_count; /* 0 where the model came without */
  int32_t label_count;         /* nsk_model_label */
  int32_t rows;                /* of a batch, nsk_model_max_batch; 0 where a run has one value for all rows */
} nsk_port;

/* A length that a run chooses (nsk_session_set_length), from `minimum` to `bound` in steps of `step`. */
typedef struct nsk_length {
  const char* name;
  int32_t minimum;
  int32_t bound;
  int32_t step;
  int32_t reserved;
} nsk_length;

/* nsk_model_open reads the whole file to compare its hash. */
enum nsk_open_option { nsk_open_check_hash = 1 };

/* Returns the bytes of memory of a model's handle. */
NSK_C_API size_t nsk_model_required_bytes(void) NSK_C_NOEXCEPT;
/* Verifies a file and makes `memory` the handle of a view of it; nothing is copied. On failure *model is null. */
NSK_C_API nsk_status nsk_model_open(void* memory, size_t memory_bytes, const void* file, size_t file_bytes,
                                    uint32_t options, nsk_model** model) NSK_C_NOEXCEPT;
/* Returns how many bytes nsk_prepare needs for a small file (nsk convert --small); 0 where `file` is none: then open it
 * as it is. `file` starts at a multiple of 16. */
NSK_C_API size_t nsk_prepare_required_bytes(const void* file, size_t file_bytes) NSK_C_NOEXCEPT;
/* Expands a small file to memory that begins at a multiple of 64 and does not overlap it; nsk_model_open takes these
 * nsk_prepare_required_bytes() bytes. The bytes of the small file are not needed any more then. */
NSK_C_API nsk_status nsk_prepare(const void* file, size_t file_bytes, void* memory, size_t memory_bytes) NSK_C_NOEXCEPT;
/* Makes the handle invalid; its memory belongs to the caller again. Sessions do not need the handle, only the file. */
NSK_C_API nsk_status nsk_model_close(nsk_model* model) NSK_C_NOEXCEPT;
/* "" for a bad handle. */
NSK_C_API const char* nsk_model_name(const nsk_model* model) NSK_C_NOEXCEPT;
NSK_C_API const char* nsk_model_producer(const nsk_model* model) NSK_C_NOEXCEPT;
/* Returns a hash of all ports: models of equal signature can replace each other. 0 for a bad handle. */
NSK_C_API uint64_t nsk_model_signature(const nsk_model* model) NSK_C_NOEXCEPT;
/* -1 for a bad handle, and where nothing has that name. */
NSK_C_API int32_t nsk_model_variant_count(const nsk_model* model) NSK_C_NOEXCEPT;
NSK_C_API int32_t nsk_model_find_variant(const nsk_model* model, const char* name) NSK_C_NOEXCEPT;
NSK_C_API int32_t nsk_model_input_count(const nsk_model* model, int32_t variant) NSK_C_NOEXCEPT;
NSK_C_API int32_t nsk_model_output_count(const nsk_model* model, int32_t variant) NSK_C_NOEXCEPT;
NSK_C_API int32_t nsk_model_find_input(const nsk_model* model, int32_t variant, const char* name) NSK_C_NOEXCEPT;
NSK_C_API int32_t nsk_model_find_output(const nsk_model* model, int32_t variant, const char* name) NSK_C_NOEXCEPT;
/* Returns the maximum number of rows of a batch, 0 where the variant computes one fixed shape. -1 for a bad handle. */
NSK_C_API int32_t nsk_model_max_batch(const nsk_model* model, int32_t variant) NSK_C_NOEXCEPT;
/* Fills *length with the length of this number, from 0 on. Status no_such_length where there are no more. Pass
 * sizeof(nsk_length) as length_bytes. */
NSK_C_API nsk_status nsk_model_length(const nsk_model* model, int32_t variant, int32_t number, nsk_length* length,
                                      size_t length_bytes) NSK_C_NOEXCEPT;
/* Fills *port. Pass sizeof(nsk_port) as port_bytes: a library that knows more fields leaves them out. */
NSK_C_API nsk_status nsk_model_input(const nsk_model* model, int32_t variant, int32_t input, nsk_port* port,
                                     size_t port_bytes) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_model_output(const nsk_model* model, int32_t variant, int32_t output, nsk_port* port,
                                      size_t port_bytes) NSK_C_NOEXCEPT;
/* Returns the name of a class, "" where there is none. */
NSK_C_API const char* nsk_model_label(const nsk_model* model, int32_t variant, int32_t output,
                                      int32_t label) NSK_C_NOEXCEPT;
/* Returns the value that the converter stored under a key; null where there is none. */
NSK_C_API const char* nsk_model_metadata(const nsk_model* model, const char* key) NSK_C_NOEXCEPT;
/* Writes "step 12 'conv3': the cause: the cure" and a zero to `text`, with the name of what `status` refers to; returns
 * the bytes in front of the zero. What does not fit is left out: 512 bytes are enough but for long names. `variant` is
 * that of the session. A null model, which is what nsk_model_open gives when it fails, leaves the name out. A port may
 * be an input or an output: "port 0 (input 'image' or output 'scores'): ...". */
NSK_C_API size_t nsk_status_format(nsk_status status, const nsk_model* model, int32_t variant, char* text,
                                   size_t text_bytes) NSK_C_NOEXCEPT;
/* Gives the bytes of memory that a session with so many lanes needs, exactly. */
NSK_C_API nsk_status nsk_arena_required_bytes(const nsk_model* model, int32_t variant, int32_t lanes,
                                              uint64_t* bytes) NSK_C_NOEXCEPT;

/* --- session --- */

/* One job: the caller's job system calls job(context, i). */
typedef void (*nsk_job)(void* context, int32_t number);
/* Calls job(context, i) once for each i in [0, count), on any threads, in any order or one after the other, and returns
 * when all have returned. Must not throw. */
typedef void (*nsk_parallel_for)(void* user, int32_t count, nsk_job job, void* context);
typedef struct nsk_jobs {
  nsk_parallel_for parallel_for;
  void* user;    /* passed to parallel_for */
  int32_t lanes; /* 0 = all that the arena has scratch for */
} nsk_jobs;
/* Calls job(context, number), for languages that cannot call a pointer. */
NSK_C_API void nsk_job_call(nsk_job job, void* context, int32_t number) NSK_C_NOEXCEPT;

/* Bits of nsk_session_flags. */
enum nsk_run_flag { nsk_index_clamped = 1, nsk_division_by_zero = 2, nsk_output_truncated = 4, nsk_length_clamped = 8 };

/* Returns the bytes of memory of a session's handle. */
NSK_C_API size_t nsk_session_required_bytes(void) NSK_C_NOEXCEPT;
/* Makes `memory` the handle of a session of the model and `arena` its arena, whose size decides how many lanes there
 * are; states have their initial values. On failure *session is null. */
NSK_C_API nsk_status nsk_session_open(void* memory, size_t memory_bytes, const nsk_model* model, int32_t variant,
                                      void* arena, size_t arena_bytes, nsk_session** session) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_session_close(nsk_session* session) NSK_C_NOEXCEPT;
/* 0 for a bad handle. */
NSK_C_API int32_t nsk_session_lanes(const nsk_session* session) NSK_C_NOEXCEPT;

/* Give the elements of a port in the arena: an input keeps its values from run to run, an output is valid from the end
 * of a run until the next one starts. An input that is bound gives nsk_status_is_bound. */
NSK_C_API nsk_status nsk_session_input(nsk_session* session, int32_t input, void** data,
                                       uint64_t* bytes) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_session_output(const nsk_session* session, int32_t output, const void** data,
                                        uint64_t* bytes) NSK_C_NOEXCEPT;
/* Copy a whole port; `bytes` must be nsk_port.bytes. */
NSK_C_API nsk_status nsk_session_write(nsk_session* session, int32_t input, const void* data,
                                       uint64_t bytes) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_session_read(const nsk_session* session, int32_t output, void* data,
                                      uint64_t bytes) NSK_C_NOEXCEPT;
/* Let runs read or write a block of the caller in place of the arena, from the next start of a run on: the port's bytes
 * and nsk_over_read_bytes() more, which are not used (an output needs them only where steps read it, which the status
 * nsk_status_wrong_size tells). A null block unbinds. */
NSK_C_API nsk_status nsk_session_bind_input(nsk_session* session, int32_t input, const void* block,
                                            uint64_t bytes) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_session_bind_output(nsk_session* session, int32_t output, void* block,
                                             uint64_t bytes) NSK_C_NOEXCEPT;
/* Lets runs compute the first `rows` rows of a batch. */
NSK_C_API nsk_status nsk_session_set_batch(nsk_session* session, int32_t rows) NSK_C_NOEXCEPT;
/* Lets runs compute with a length of `value`; a new session has the bounds. Inputs and outputs are dense for the new
 * shapes, and as many bytes as nsk_session_input and nsk_session_output say. Status no_such_length,
 * length_out_of_range. */
NSK_C_API nsk_status nsk_session_set_length(nsk_session* session, const char* name, int32_t value) NSK_C_NOEXCEPT;

/* Runs a whole inference: on this thread where `jobs` is null, otherwise with its lanes. */
NSK_C_API nsk_status nsk_session_run(nsk_session* session, const nsk_jobs* jobs) NSK_C_NOEXCEPT;
/* Run a part of an inference, at least one tile: so many multiply-accumulates (the same cut on every machine), or until
 * so many microseconds of `clock` have passed. *complete is 1 when the inference is complete, 0 when not; the next call
 * starts a new one or goes on. */
NSK_C_API nsk_status nsk_session_run_for_work(nsk_session* session, uint64_t macs, const nsk_jobs* jobs,
                                              int32_t* complete) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_session_run_for_time(nsk_session* session, int64_t microseconds, nsk_clock clock,
                                              void* clock_user, const nsk_jobs* jobs, int32_t* complete) NSK_C_NOEXCEPT;
/* Abandons an inference that a step has begun. */
NSK_C_API nsk_status nsk_session_restart(nsk_session* session) NSK_C_NOEXCEPT;
/* For job graphs: all tiles of a step may run at once, on different lanes; all must be complete before the first of the
 * next step. Call nsk_session_finish after the last. Counts are -1 for a bad handle or step. */
NSK_C_API int32_t nsk_session_step_count(const nsk_session* session) NSK_C_NOEXCEPT;
NSK_C_API int32_t nsk_session_tile_count(const nsk_session* session, int32_t step_number) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_session_run_tile(nsk_session* session, int32_t step_number, int32_t tile,
                                          int32_t lane) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_session_finish(nsk_session* session) NSK_C_NOEXCEPT;

/* Returns the bytes of a snapshot of all states, 0 for a bad handle. */
NSK_C_API uint64_t nsk_session_state_bytes(const nsk_session* session) NSK_C_NOEXCEPT;
/* Copy the states, as the last complete inference left them, out and in; `bytes` is nsk_session_state_bytes. */
NSK_C_API nsk_status nsk_session_save(const nsk_session* session, void* snapshot, uint64_t bytes) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_session_load(nsk_session* session, const void* snapshot, uint64_t bytes) NSK_C_NOEXCEPT;
/* Gives every state its initial value. */
NSK_C_API nsk_status nsk_session_reset(nsk_session* session) NSK_C_NOEXCEPT;
/* Chooses the numbers of random steps. */
NSK_C_API nsk_status nsk_session_seed(nsk_session* session, uint64_t key, uint32_t first_row) NSK_C_NOEXCEPT;
/* Returns what the data of this inference made necessary, bits of nsk_run_flag; 0 for a bad handle. */
NSK_C_API uint32_t nsk_session_flags(const nsk_session* session) NSK_C_NOEXCEPT;
/* Replays the inputs and outputs that the converter recorded; `where` is the output that differs. */
NSK_C_API nsk_status nsk_session_selftest(nsk_session* session) NSK_C_NOEXCEPT;
/* Puts another model of the same ports in the place of the session's; states go on. `snapshot` has
 * nsk_session_state_bytes bytes and is overwritten; `arena` may be the session's own. On failure nothing changes. */
NSK_C_API nsk_status nsk_session_rebind(nsk_session* session, const nsk_model* next, int32_t variant, void* arena,
                                        size_t arena_bytes, void* snapshot, uint64_t snapshot_bytes) NSK_C_NOEXCEPT;

#if defined(__cplusplus)
}
#endif

#include <netsuke/c/batcher.h>
#include <netsuke/c/image.h>
#include <netsuke/c/log.h>

#if defined(NSK_C_IMPLEMENTATION)
#if !defined(__cplusplus)
#error "netsuke: NSK_C_IMPLEMENTATION belongs into a .cpp file: the functions are compiled by a C++17 compiler"
#else
#include <netsuke/c/impl/library.hpp>
#include <netsuke/c/impl/batcher.hpp>
#include <netsuke/c/impl/image.hpp>
#include <netsuke/c/impl/log.hpp>
#include <netsuke/c/impl/model.hpp>
#include <netsuke/c/impl/run.hpp>
#include <netsuke/c/impl/session.hpp>
#include <netsuke/c/impl/watch.hpp>
#endif
#endif
#endif
