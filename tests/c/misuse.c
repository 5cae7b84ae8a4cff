/* SPDX-License-Identifier: MIT */
/* misuse MODEL.nsk SMALL.nsk AGENTS.nsk: everything that a caller can get wrong gives its status and a text, and
 * changes nothing. AGENTS has a batch. */
#include "expect.h"

typedef struct fixture {
  const char *path, *other_path, *agents_path;
  nsk_model* model;
  nsk_session* net;
  nsk_port in, out;
  void* block; /* as long as the larger of both, and more */
} fixture;

static void library(void) {
  MUST(nsk_check_library(NSK_C_VERSION));
  EXPECT(wrong_library, -1, nsk_check_library(NSK_C_VERSION + 1));
  EXPECT_EQUAL(nsk_c_version(), (uint32_t)NSK_C_VERSION);
  EXPECT_EQUAL(strcmp(nsk_status_name(nsk_status_wrong_version), "wrong_version"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_name(nsk_status_bad_handle), "bad_handle"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_name(-7), "unknown"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_text(999), "unknown status"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_place(nsk_status_bad_step), "step"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_place(nsk_status_wrong_size), "port"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_place(nsk_status_bad_check), "check vector"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_place(nsk_status_bad_argument), "argument"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_place(nsk_status_too_short), "none"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_place(nsk_status_bad_handle), "none"), 0);
  EXPECT_EQUAL(strcmp(nsk_status_place(-7), "none") + strcmp(nsk_status_place(999), "none"), 0);
}

/* The line of a status is `begin`, the code's text, and `end`. */
static void expect_line(int32_t code, int32_t where, const nsk_model* m, int32_t variant, const char* begin,
                        const char* end, int line) {
  char text[1024], expected[1024];
  nsk_status s;
  size_t size;
  s.code = code;
  s.where = where;
  size = nsk_status_format(s, m, variant, text, sizeof text);
  sprintf(expected, "%s%s%s", begin, nsk_status_text(code), end);
  if (strcmp(text, expected) == 0 && size == strlen(expected)) return;
  ++failures;
  fprintf(stderr, "misuse.c:%d: \"%s\" of %lu bytes, expected \"%s\"\n", line, text, (unsigned long)size, expected);
}
#define EXPECT_LINE(code, where, m, variant, begin, end) \
  expect_line(code, (where), (m), (variant), (begin), (end), __LINE__)

static void lines(const fixture* f) {
  const nsk_model* const none = NULL;
  nsk_model* const closed = open_model(f->path);
  char text[16];
  nsk_status s;
  size_t bytes;
  MUST(nsk_model_close(closed));
  EXPECT_LINE(nsk_status_ok, -1, f->model, 0, "", "");
  EXPECT_LINE(nsk_status_bad_step, 0, f->model, 0, "step 0 'first+Relu_1': ", "");
  EXPECT_LINE(nsk_status_bad_step, 99, f->model, 0, "step 99: ", "");
  EXPECT_LINE(nsk_status_bad_step, 0, f->model, 1, "step 0: ", "");
  EXPECT_LINE(nsk_status_bad_step, 0, closed, 0, "step 0: ", "");
  EXPECT_LINE(nsk_status_bad_step, 0, none, 0, "step 0: ", "");
  EXPECT_LINE(nsk_status_wrong_size, 0, f->model, 0, "port 0 (input 'image' or output 'scores'): ", "");
  EXPECT_LINE(nsk_status_wrong_size, 9, f->model, 0, "port 9: ", "");
  EXPECT_LINE(nsk_status_wrong_size, -1, f->model, 0, "", "");
  EXPECT_LINE(nsk_status_is_bound, 0, f->model, 0, "input 0 'image': ", "");
  EXPECT_LINE(nsk_status_no_such_port, 7, f->model, 0, "port 7: ", " (inputs: 0 'image'; outputs: 0 'scores')");
  EXPECT_LINE(nsk_status_no_such_port, 7, none, 0, "port 7: ", "");
  EXPECT_LINE(nsk_status_bad_variant, 3, f->model, 3, "variant 3: ", "");
  EXPECT_LINE(nsk_status_bad_argument, 3, f->model, 0, "argument 3: ", "");
  EXPECT_LINE(nsk_status_no_image, 0, f->model, 0, "port 0 (input 'image' or output 'scores'): ", "");
  EXPECT_LINE(nsk_status_no_image, 0, none, 0, "port 0: ", "");
  EXPECT_LINE(nsk_status_wrong_image_size, 0, f->model, 0, "output 0 'scores': ", "");
  EXPECT_LINE(nsk_status_bad_handle, -1, none, 0, "", "");
  EXPECT_LINE(999, -1, f->model, 0, "", "");
  s.code = nsk_status_wrong_size;
  s.where = 0;
  EXPECT_EQUAL(nsk_status_format(s, f->model, 0, NULL, 100), 0u);
  for (bytes = 0; bytes < sizeof text; ++bytes) { /* nothing behind the block is written */
    memset(text, 'x', sizeof text);
    EXPECT_EQUAL(nsk_status_format(s, f->model, 0, text, bytes), bytes == 0 ? 0 : bytes - 1);
    EXPECT_EQUAL(bytes == 0 || (strlen(text) == bytes - 1 && strncmp(text, "port 0 (input 'i", bytes - 1) == 0), 1);
    EXPECT_EQUAL(text[bytes], 'x');
  }
}

/* Opens a copy of the file in which the 32-bit number at `at` is `value`. */
static nsk_status open_changed(const fixture* f, size_t at, uint32_t value) {
  size_t bytes;
  void* const file = read_file(f->path, &bytes);
  nsk_model* model = f->model;
  nsk_status s;
  memcpy((unsigned char*)file + at, &value, sizeof value);
  s = nsk_model_open(memory_of(nsk_model_required_bytes()), nsk_model_required_bytes(), file, bytes, 0, &model);
  EXPECT_EQUAL(model == NULL, s.code != 0);
  return s;
}

static void small_files(const fixture* f) {
  size_t bytes;
  void* const small = read_file(f->other_path, &bytes);
  const size_t prepared = nsk_prepare_required_bytes(small, bytes);
  void* const memory = memory_of(prepared);
  nsk_model* model;
  EXPECT_EQUAL(prepared > bytes, 1);
  EXPECT_EQUAL(nsk_prepare_required_bytes(NULL, bytes), 0);
  EXPECT_EQUAL(nsk_prepare_required_bytes(small, bytes - 1), 0);
  EXPECT(not_prepared, -1,
         nsk_model_open(memory_of(nsk_model_required_bytes()), nsk_model_required_bytes(), small, bytes, 0, &model));
  EXPECT(bad_argument, 0, nsk_prepare(NULL, bytes, memory, prepared));
  EXPECT(bad_argument, 2, nsk_prepare(small, bytes, NULL, prepared));
  EXPECT(too_little_memory, -1, nsk_prepare(small, bytes, memory, prepared - 1));
  EXPECT(misaligned_memory, -1, nsk_prepare(small, bytes, (char*)memory_of(prepared + 16) + 16, prepared));
  EXPECT(too_short, -1, nsk_prepare(small, bytes - 1, memory, prepared));
  ((unsigned char*)small)[64] = 9; /* the kind of the first part */
  EXPECT(bad_part, 0, nsk_prepare(small, bytes, memory, prepared));
}

static void files(const fixture* f) {
  size_t bytes;
  void* const file = read_file(f->path, &bytes);
  void* const memory = memory_of(nsk_model_required_bytes() + 16);
  void* const misaligned = (char*)memory_of(bytes + 8) + 8;
  nsk_model* model;
  memcpy(misaligned, file, bytes);
  EXPECT(wrong_version, -1, open_changed(f, 8, nsk_format_version() + 1)); /* tomorrow's */
  EXPECT(unknown_feature, -1, open_changed(f, 12, 0x80000000u));
  EXPECT(bad_magic, -1, open_changed(f, 0, 0));
  EXPECT(too_short, -1, nsk_model_open(memory, nsk_model_required_bytes(), file, bytes - 1, 0, &model));
  EXPECT(too_short, -1, nsk_model_open(memory, nsk_model_required_bytes(), file, 0, 0, &model));
  EXPECT(misaligned_bytes, -1, nsk_model_open(memory, nsk_model_required_bytes(), misaligned, bytes, 0, &model));
  EXPECT(bad_argument, 0, nsk_model_open(NULL, nsk_model_required_bytes(), file, bytes, 0, &model));
  EXPECT(bad_argument, 0, nsk_model_open((char*)memory + 8, nsk_model_required_bytes(), file, bytes, 0, &model));
  EXPECT(bad_argument, 1, nsk_model_open(memory, nsk_model_required_bytes() - 1, file, bytes, 0, &model));
  EXPECT(bad_argument, 2, nsk_model_open(memory, nsk_model_required_bytes(), NULL, bytes, 0, &model));
  EXPECT(bad_argument, 4, nsk_model_open(memory, nsk_model_required_bytes(), file, bytes, 64, &model));
  EXPECT(bad_argument, 5, nsk_model_open(memory, nsk_model_required_bytes(), file, bytes, 0, NULL));
  ((unsigned char*)file)[bytes - 70] ^= 1; /* a weight */
  EXPECT(wrong_hash, -1, nsk_model_open(memory, nsk_model_required_bytes(), file, bytes, nsk_open_check_hash, &model));
  EXPECT_EQUAL(model == NULL, 1);
}

/* Handles that are none, given to every function that takes one. */
static void handles(const fixture* f, nsk_model* m, nsk_session* s) {
  uint64_t bytes = 0;
  int32_t complete = 0;
  void* data;
  const void* result;
  nsk_port port;
  nsk_length length;
  nsk_session* made;
  EXPECT(bad_handle, -1, nsk_arena_required_bytes(m, 0, 1, &bytes));
  EXPECT(bad_handle, -1, nsk_model_input(m, 0, 0, &port, sizeof port));
  EXPECT(bad_handle, -1, nsk_model_output(m, 0, 0, &port, sizeof port));
  EXPECT(bad_handle, -1,
         nsk_session_open(memory_of(nsk_session_required_bytes()), nsk_session_required_bytes(), m, 0, f->block, 64,
                          &made));
  EXPECT(bad_handle, -1, nsk_model_length(m, 0, 0, &length, sizeof length));
  EXPECT(bad_handle, -1, nsk_model_close(m));
  EXPECT_EQUAL(strcmp(nsk_model_name(m), "") + strcmp(nsk_model_producer(m), ""), 0);
  EXPECT_EQUAL(nsk_model_signature(m), 0u);
  EXPECT_EQUAL(nsk_model_variant_count(m) + nsk_model_find_variant(m, "") + nsk_model_max_batch(m, 0), -3);
  EXPECT_EQUAL(nsk_model_input_count(m, 0) + nsk_model_output_count(m, 0), -2);
  EXPECT_EQUAL(nsk_model_find_input(m, 0, "") + nsk_model_find_output(m, 0, ""), -2);
  EXPECT_EQUAL(strcmp(nsk_model_label(m, 0, 0, 0), ""), 0);
  EXPECT_EQUAL(nsk_model_metadata(m, "") == NULL, 1);

  EXPECT(bad_handle, -1, nsk_session_input(s, 0, &data, &bytes));
  EXPECT(bad_handle, -1, nsk_session_output(s, 0, &result, &bytes));
  EXPECT(bad_handle, -1, nsk_session_write(s, 0, f->block, f->in.bytes));
  EXPECT(bad_handle, -1, nsk_session_read(s, 0, f->block, f->out.bytes));
  EXPECT(bad_handle, -1, nsk_session_bind_input(s, 0, f->block, f->in.bytes));
  EXPECT(bad_handle, -1, nsk_session_bind_output(s, 0, f->block, f->out.bytes));
  EXPECT(bad_handle, -1, nsk_session_set_batch(s, 1));
  EXPECT(bad_handle, -1, nsk_session_set_length(s, "n", 1));
  EXPECT(bad_handle, -1, nsk_session_run(s, NULL));
  EXPECT(bad_handle, -1, nsk_session_run_for_work(s, 1, NULL, &complete));
  EXPECT(bad_handle, -1, nsk_session_run_for_time(s, 1, NULL, NULL, NULL, &complete));
  EXPECT(bad_handle, -1, nsk_session_restart(s));
  EXPECT(bad_handle, -1, nsk_session_run_tile(s, 0, 0, 0));
  EXPECT(bad_handle, -1, nsk_session_finish(s));
  EXPECT(bad_handle, -1, nsk_session_save(s, f->block, 0));
  EXPECT(bad_handle, -1, nsk_session_load(s, f->block, 0));
  EXPECT(bad_handle, -1, nsk_session_reset(s));
  EXPECT(bad_handle, -1, nsk_session_seed(s, 1, 0));
  EXPECT(bad_handle, -1, nsk_session_selftest(s));
  EXPECT(bad_handle, -1, nsk_session_rebind(s, f->model, 0, f->block, 64, NULL, 0));
  EXPECT(bad_handle, -1, nsk_session_rebind(f->net, m, 0, f->block, 64, NULL, 0));
  EXPECT(bad_handle, -1, nsk_session_close(s));
  EXPECT_EQUAL(nsk_session_step_count(s) + nsk_session_tile_count(s, 0), -2);
  EXPECT_EQUAL((uint64_t)nsk_session_lanes(s) + nsk_session_state_bytes(s) + nsk_session_flags(s), 0u);
}

static void wrong_handles(const fixture* f) {
  unsigned char* const memory = (unsigned char*)memory_of(nsk_session_required_bytes() + nsk_model_required_bytes());
  nsk_model* const closed = open_model(f->path);
  nsk_session* const ended = open_session(closed, 1);
  MUST(nsk_model_close(closed));
  MUST(nsk_session_run(ended, NULL)); /* a session does not need the handle of its model */
  MUST(nsk_session_close(ended));
  handles(f, NULL, NULL);
  handles(f, closed, ended);
  handles(f, (nsk_model*)(void*)f->net, (nsk_session*)(void*)f->model);
  handles(f, (nsk_model*)(void*)memory, (nsk_session*)(void*)memory);
  handles(f, (nsk_model*)(void*)(memory + 1), (nsk_session*)(void*)(memory + 1));
  memcpy(memory, f->model, nsk_model_required_bytes()); /* a copy at another address */
  handles(f, (nsk_model*)(void*)memory, (nsk_session*)(void*)memory);
}

static void models(const fixture* f) {
  nsk_port port;
  uint64_t bytes;
  EXPECT(bad_variant, 1, nsk_arena_required_bytes(f->model, 1, 1, &bytes));
  EXPECT(bad_variant, -1, nsk_model_input(f->model, -1, 0, &port, sizeof port));
  EXPECT(bad_argument, 2, nsk_arena_required_bytes(f->model, 0, 0, &bytes));
  EXPECT(bad_argument, 3, nsk_arena_required_bytes(f->model, 0, 1, NULL));
  EXPECT(no_such_port, 7, nsk_model_input(f->model, 0, 7, &port, sizeof port));
  EXPECT(no_such_port, -1, nsk_model_output(f->model, 0, -1, &port, sizeof port));
  EXPECT(bad_argument, 3, nsk_model_output(f->model, 0, 0, NULL, sizeof port));
  EXPECT(bad_argument, 4, nsk_model_output(f->model, 0, 0, &port, sizeof port - 1));
  EXPECT_EQUAL(nsk_model_find_input(f->model, 0, "no such name"), -1);
  EXPECT_EQUAL(nsk_model_find_input(f->model, 0, NULL), -1);
  EXPECT_EQUAL(nsk_model_find_output(f->model, 9, f->out.name), -1);
  EXPECT_EQUAL(nsk_model_input_count(f->model, 1), -1);
}

/* A struct of a later version of the interface: what this library does not know becomes zero. */
static void longer_struct(const fixture* f) {
  struct {
    nsk_port known;
    uint64_t unknown;
  } later;
  memset(&later, 0xff, sizeof later);
  MUST(nsk_model_input(f->model, 0, 0, (nsk_port*)(void*)&later, sizeof later));
  EXPECT_EQUAL(later.unknown, 0u);
  EXPECT_EQUAL(later.known.bytes, f->in.bytes);
}

static void arenas(const fixture* f) {
  uint64_t needed;
  void *memory = memory_of(nsk_session_required_bytes()), *arena;
  size_t bytes;
  nsk_session* s;
  MUST(nsk_arena_required_bytes(f->model, 0, 1, &needed));
  bytes = (size_t)needed;
  arena = memory_of(bytes);
  EXPECT(too_little_memory, -1,
         nsk_session_open(memory, nsk_session_required_bytes(), f->model, 0, arena, bytes - 1, &s));
  EXPECT(misaligned_memory, -1,
         nsk_session_open(memory, nsk_session_required_bytes(), f->model, 0, (char*)arena + 16, bytes, &s));
  EXPECT(bad_variant, 5, nsk_session_open(memory, nsk_session_required_bytes(), f->model, 5, arena, bytes, &s));
  EXPECT(bad_argument, 0, nsk_session_open(NULL, nsk_session_required_bytes(), f->model, 0, arena, bytes, &s));
  EXPECT(bad_argument, 1, nsk_session_open(memory, nsk_session_required_bytes() - 1, f->model, 0, arena, bytes, &s));
  EXPECT(bad_argument, 4, nsk_session_open(memory, nsk_session_required_bytes(), f->model, 0, NULL, bytes, &s));
  EXPECT(bad_argument, 6, nsk_session_open(memory, nsk_session_required_bytes(), f->model, 0, arena, bytes, NULL));
  EXPECT_EQUAL(s == NULL, 1);
}

static void ports(const fixture* f) {
  uint64_t bytes;
  void* data;
  EXPECT(wrong_size, 0, nsk_session_write(f->net, 0, f->block, f->in.bytes - 1));
  EXPECT(wrong_size, 0, nsk_session_write(f->net, 0, f->block, f->in.bytes + 1));
  EXPECT(wrong_size, 0, nsk_session_read(f->net, 0, f->block, f->out.bytes - 4));
  EXPECT(bad_argument, 2, nsk_session_write(f->net, 0, NULL, f->in.bytes));
  EXPECT(bad_argument, 2, nsk_session_read(f->net, 0, NULL, f->out.bytes));
  EXPECT(bad_argument, 3, nsk_session_input(f->net, 0, &data, NULL));
  EXPECT(no_such_port, 4, nsk_session_write(f->net, 4, f->block, f->in.bytes));
  EXPECT(no_such_port, -1, nsk_session_read(f->net, -1, f->block, f->out.bytes));
  EXPECT(no_such_port, 4, nsk_session_bind_input(f->net, 4, f->block, f->in.bytes));
  EXPECT(wrong_size, 0, nsk_session_bind_input(f->net, 0, f->block, f->in.bytes));
  EXPECT(misaligned_memory, 0, nsk_session_bind_input(f->net, 0, (char*)f->block + 1, f->in.bytes + 64));
  MUST(nsk_session_bind_input(f->net, 0, f->block, f->in.bytes + nsk_over_read_bytes()));
  EXPECT(is_bound, 0, nsk_session_input(f->net, 0, &data, &bytes));
  EXPECT(is_bound, 0, nsk_session_write(f->net, 0, f->block, f->in.bytes));
  MUST(nsk_session_bind_input(f->net, 0, NULL, 0));
}

static void nothing(void* user, int32_t count, nsk_job job, void* context) {
  for (; count > 0; --count) job(context, count - 1);
  (void)user;
}
static int64_t midnight(void* user) {
  (void)user;
  return 0;
}

static void runs(const fixture* f) {
  int32_t complete;
  nsk_jobs jobs;
  jobs.parallel_for = nothing;
  jobs.user = NULL;
  jobs.lanes = nsk_session_lanes(f->net) + 1;
  EXPECT(bad_argument, 1, nsk_session_run(f->net, &jobs));
  jobs.lanes = -1;
  EXPECT(bad_argument, 2, nsk_session_run_for_work(f->net, 1, &jobs, &complete));
  EXPECT(bad_argument, 4, nsk_session_run_for_time(f->net, 1, midnight, NULL, &jobs, &complete));
  jobs.lanes = 1;
  jobs.parallel_for = NULL;
  EXPECT(bad_argument, 1, nsk_session_run(f->net, &jobs));
  EXPECT(bad_argument, 3, nsk_session_run_for_work(f->net, 1, NULL, NULL));
  EXPECT(bad_argument, 2, nsk_session_run_for_time(f->net, 1, NULL, NULL, NULL, &complete));
  EXPECT(bad_argument, 5, nsk_session_run_for_time(f->net, 1, midnight, NULL, NULL, NULL));
  EXPECT(bad_argument, 1, nsk_session_run_tile(f->net, nsk_session_step_count(f->net), 0, 0));
  EXPECT(bad_argument, 2, nsk_session_run_tile(f->net, 0, nsk_session_tile_count(f->net, 0), 0));
  EXPECT(bad_argument, 3, nsk_session_run_tile(f->net, 0, 0, nsk_session_lanes(f->net)));
  EXPECT_EQUAL(nsk_session_tile_count(f->net, -1), -1);
}

/* States of a recurrent model, and a model that cannot take its place. */
static void states(const fixture* f) {
  nsk_model* const other = open_model(f->other_path);
  nsk_session* const net = open_session(other, 1);
  const uint64_t bytes = nsk_session_state_bytes(net);
  void* const snapshot = memory_of((size_t)bytes + 1);
  uint64_t arena_bytes;
  void* arena;
  REQUIRE(bytes > 0);
  EXPECT(wrong_size, -1, nsk_session_save(net, snapshot, bytes - 1));
  EXPECT(wrong_size, -1, nsk_session_load(net, snapshot, bytes + 1));
  EXPECT(bad_argument, 1, nsk_session_save(net, NULL, bytes));
  EXPECT(bad_argument, 1, nsk_session_load(net, NULL, bytes));
  MUST(nsk_arena_required_bytes(other, 0, 1, &arena_bytes));
  arena = memory_of((size_t)arena_bytes);
  EXPECT(other_ports, -1, nsk_session_rebind(net, f->model, 0, arena, (size_t)arena_bytes, snapshot, bytes));
  EXPECT(wrong_size, -1, nsk_session_rebind(net, other, 0, arena, (size_t)arena_bytes, snapshot, bytes - 1));
  EXPECT(bad_argument, 3, nsk_session_rebind(net, other, 0, NULL, (size_t)arena_bytes, snapshot, bytes));
  EXPECT(bad_variant, 2, nsk_session_rebind(net, other, 2, arena, (size_t)arena_bytes, snapshot, bytes));
  MUST(nsk_session_rebind(net, other, 0, arena, (size_t)arena_bytes, snapshot, bytes));
  MUST(nsk_session_run(net, NULL));
}

static void batches(const fixture* f) {
  nsk_model* const agents = open_model(f->agents_path);
  nsk_session* const net = open_session(agents, 1);
  const int32_t rows = nsk_model_max_batch(agents, 0);
  nsk_length length;
  REQUIRE(rows == 8);
  EXPECT_EQUAL(nsk_model_max_batch(f->model, 0), 0);
  EXPECT(rows_out_of_range, 0, nsk_session_set_batch(net, 0));
  EXPECT(rows_out_of_range, 9, nsk_session_set_batch(net, rows + 1));
  EXPECT(rows_out_of_range, 1, nsk_session_set_batch(f->net, 1));
  EXPECT(no_such_length, -1, nsk_session_set_length(f->net, "rows", 1));
  EXPECT(bad_argument, 1, nsk_session_set_length(f->net, NULL, 1));
  EXPECT(bad_argument, 3, nsk_model_length(agents, 0, 0, NULL, sizeof length));
  EXPECT(bad_argument, 4, nsk_model_length(agents, 0, 0, &length, sizeof length - 1));
  EXPECT(no_such_length, -1, nsk_model_length(agents, 0, 0, &length, sizeof length));
  MUST(nsk_session_set_length(net, "batch", rows));
  MUST(nsk_session_seed(net, 7, 0));
  MUST(nsk_session_set_batch(net, 3));
  MUST(nsk_session_run(net, NULL));
  EXPECT(no_check_vectors, -1, nsk_session_selftest(net));
}

int main(int argc, char** argv) {
  fixture f;
  REQUIRE(argc == 4);
  f.path = argv[1];
  f.other_path = argv[2];
  f.agents_path = argv[3];
  f.model = open_model(f.path);
  f.net = open_session(f.model, 2);
  MUST(nsk_model_input(f.model, 0, 0, &f.in, sizeof f.in));
  MUST(nsk_model_output(f.model, 0, 0, &f.out, sizeof f.out));
  f.block = memory_of((size_t)(f.in.bytes + f.out.bytes) + 128);
  library();
  lines(&f);
  files(&f);
  small_files(&f);
  wrong_handles(&f);
  models(&f);
  longer_struct(&f);
  arenas(&f);
  ports(&f);
  runs(&f);
  states(&f);
  batches(&f);
  MUST(nsk_session_selftest(f.net)); /* nothing of all this has changed it */
  printf("%d failures\n", failures);
  return failures != 0;
}
