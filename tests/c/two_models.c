/* SPDX-License-Identifier: MIT */
/* two_models A.nsk B.nsk: runs both in turns, in every way that the C interface has; prints a line per model and time
 * step, "NAME STEP HASH", of the outputs. Every way must give the same bits. */
#include "support.h"

#define EMPTY_HASH 14695981039346656037u

enum { time_steps = 3, lanes = 2, ways = 7 };

/* Number i of the inputs of every test, in [-0.5, 0.5): exact in single precision, so that all languages agree. */
static float input_number(uint32_t i) { return (float)((i * 2654435761u) >> 16) / 65536.0f - 0.5f; }

/* Fills an input; those of integers, which are no indices here, with zeros. */
static void fill(void* data, const nsk_port* port, uint32_t first) {
  uint64_t i;
  memset(data, 0, (size_t)port->bytes);
  if (port->type != nsk_type_float32) return;
  for (i = 0; i < port->elements; ++i) ((float*)data)[i] = input_number(first + (uint32_t)i);
}

/* FNV-1a of 64 bits. */
static uint64_t add_to_hash(uint64_t hash, const void* data, size_t bytes) {
  size_t i;
  for (i = 0; i < bytes; ++i) hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  return hash;
}

/* A job system that is none: one lane after the other, the last first. */
static void backwards(void* user, int32_t count, nsk_job job, void* context) {
  ++*(int*)user;
  for (; count > 1; --count) job(context, count - 1);
  nsk_job_call(job, context, 0);
  nsk_job_call(NULL, context, 0);
}

static int64_t ticking(void* user) { return ++*(int64_t*)user; }

static void run_in_tiles(nsk_session* net) {
  int32_t step, tile;
  for (step = 0; step < nsk_session_step_count(net); ++step) {
    for (tile = nsk_session_tile_count(net, step) - 1; tile >= 0; --tile)
      MUST(nsk_session_run_tile(net, step, tile, tile % lanes));
  }
  MUST(nsk_session_finish(net));
}

/* A slice of one multiply-accumulate is one tile; lanes get larger ones, which may be whole inferences. */
static void run_in_slices(nsk_session* net, int by_time, const nsk_jobs* jobs) {
  int64_t now = 0;
  int32_t complete = 0;
  int slices = 0;
  for (; complete == 0; ++slices) {
    if (by_time)
      MUST(nsk_session_run_for_time(net, 1, ticking, &now, jobs, &complete));
    else
      MUST(nsk_session_run_for_work(net, jobs != NULL ? 300000 : 1, jobs, &complete));
  }
  REQUIRE(slices > 1 || (!by_time && jobs != NULL));
}

/* Whether lanes can share a step. */
static int has_several_tiles(const nsk_session* net) {
  int32_t step;
  for (step = 0; step < nsk_session_step_count(net); ++step) {
    if (nsk_session_tile_count(net, step) > 1) return 1;
  }
  return 0;
}

static void run(nsk_session* net, int way) {
  int calls = 0;
  nsk_jobs jobs;
  jobs.parallel_for = backwards;
  jobs.user = &calls;
  jobs.lanes = 0;
  switch (way) {
    case 0: MUST(nsk_session_run(net, NULL)); break;
    case 1: MUST(nsk_session_run(net, &jobs)); break;
    case 2: run_in_tiles(net); break;
    case 3: run_in_slices(net, 0, NULL); break;
    case 4: run_in_slices(net, 1, NULL); break;
    case 5: run_in_slices(net, 0, &jobs); break;
    default: run_in_slices(net, 1, &jobs); break;
  }
  REQUIRE((calls > 0) == (has_several_tiles(net) && (way == 1 || way > 4)));
}

static void write_inputs(const nsk_model* model, nsk_session* net, int time_step) {
  int32_t i;
  for (i = 0; i < nsk_model_input_count(model, 0); ++i) {
    nsk_port port;
    void* block;
    MUST(nsk_model_input(model, 0, i, &port, sizeof port));
    REQUIRE(nsk_model_find_input(model, 0, port.name) == i);
    block = memory_of((size_t)port.bytes);
    fill(block, &port, (uint32_t)(1000 * time_step + i));
    MUST(nsk_session_write(net, i, block, port.bytes));
  }
}

static uint64_t hash_of_outputs(const nsk_model* model, const nsk_session* net) {
  uint64_t hash = EMPTY_HASH;
  int32_t i;
  for (i = 0; i < nsk_model_output_count(model, 0); ++i) {
    nsk_port port;
    const void* data;
    uint64_t bytes;
    void* block;
    MUST(nsk_model_output(model, 0, i, &port, sizeof port));
    MUST(nsk_session_output(net, i, &data, &bytes));
    block = memory_of((size_t)bytes);
    MUST(nsk_session_read(net, i, block, port.bytes));
    REQUIRE(bytes == port.bytes && memcmp(block, data, (size_t)bytes) == 0);
    hash = add_to_hash(hash, data, (size_t)bytes);
  }
  return hash;
}

/* Runs with blocks of the caller in place of the arena. */
static uint64_t hash_of_bound(const nsk_model* model, nsk_session* net) {
  nsk_port in, out;
  void *input, *output;
  uint64_t hash;
  size_t pad = nsk_over_read_bytes();
  MUST(nsk_model_input(model, 0, 0, &in, sizeof in));
  MUST(nsk_model_output(model, 0, 0, &out, sizeof out));
  input = memory_of((size_t)in.bytes + pad);
  output = memory_of((size_t)out.bytes + pad);
  fill(input, &in, 0);
  MUST(nsk_session_bind_input(net, 0, input, in.bytes + pad));
  MUST(nsk_session_bind_output(net, 0, output, out.bytes + pad));
  MUST(nsk_session_run(net, NULL));
  hash = add_to_hash(EMPTY_HASH, output, (size_t)out.bytes);
  MUST(nsk_session_bind_input(net, 0, NULL, 0));
  MUST(nsk_session_bind_output(net, 0, NULL, 0));
  return hash;
}

/* The last time step again, from a snapshot. */
static void roll_back(const nsk_model* model, nsk_session* net, const void* snapshot, uint64_t expected) {
  MUST(nsk_session_load(net, snapshot, nsk_session_state_bytes(net)));
  write_inputs(model, net, time_steps - 1);
  MUST(nsk_session_run(net, NULL));
  REQUIRE(hash_of_outputs(model, net) == expected);
}

int main(int argc, char** argv) {
  uint64_t expected[2][time_steps];
  nsk_model* model[2];
  nsk_session* net[2];
  void* snapshot[2];
  int i, way, time_step;
  REQUIRE(argc == 3);
  MUST(nsk_check_library(NSK_C_VERSION));
  for (i = 0; i < 2; ++i) {
    model[i] = open_model(argv[1 + i]);
    net[i] = open_session(model[i], lanes);
    REQUIRE(nsk_session_lanes(net[i]) >= lanes);
    snapshot[i] = memory_of((size_t)nsk_session_state_bytes(net[i]) + 1);
  }
  REQUIRE(has_several_tiles(net[0]));
  for (way = 0; way < ways; ++way) {
    for (i = 0; i < 2; ++i) MUST(nsk_session_reset(net[i]));
    for (time_step = 0; time_step < time_steps; ++time_step) {
      for (i = 0; i < 2; ++i) {
        uint64_t hash;
        if (time_step == time_steps - 1) MUST(nsk_session_save(net[i], snapshot[i], nsk_session_state_bytes(net[i])));
        write_inputs(model[i], net[i], time_step);
        run(net[i], way);
        REQUIRE(nsk_session_flags(net[i]) == 0);
        hash = hash_of_outputs(model[i], net[i]);
        if (way == 0) {
          expected[i][time_step] = hash;
          printf("%d %d %016llx\n", i, time_step, (unsigned long long)hash);
        }
        REQUIRE(hash == expected[i][time_step]);
      }
    }
    for (i = 0; i < 2; ++i) roll_back(model[i], net[i], snapshot[i], expected[i][time_steps - 1]);
  }
  for (i = 0; i < 2; ++i) {
    MUST(nsk_session_selftest(net[i]));
    if (nsk_session_state_bytes(net[i]) == 0) REQUIRE(hash_of_bound(model[i], net[i]) == expected[i][0]);
    MUST(nsk_model_close(model[i]));
    MUST(nsk_session_reset(net[i]));
    MUST(nsk_session_close(net[i]));
  }
  return 0;
}
