/* SPDX-License-Identifier: MIT */
/* A network in a C program: opens a model, fills its inputs with 0.5, runs it in slices as a game would from frame to
 * frame, prints the outputs.   main MODEL.nsk */
#include <stdio.h>
#include <stdlib.h>
#include <netsuke/c/netsuke.h>

/* Says what is wrong and what to do, with the names of the model's steps and ports, and ends the program. */
static void check(const nsk_model* model, nsk_status s) {
  char text[1024];
  if (s.code == nsk_status_ok) return;
  nsk_status_format(s, model, 0, text, sizeof text);
  fprintf(stderr, "%s: %s\n", nsk_status_name(s.code), text);
  exit(1);
}

/* Memory at a multiple of 64 bytes, for handles, files and arenas. C99 has no aligned_alloc; a game has its own. */
static void* memory_of(size_t bytes) {
  unsigned char* const block = (unsigned char*)malloc(bytes + 64);
  if (block == NULL) {
    fprintf(stderr, "there is no memory for %lu bytes\n", (unsigned long)bytes);
    exit(1);
  }
  return block + (64 - (uintptr_t)block % 64) % 64;
}

static const void* read_file(const char* path, size_t* bytes) {
  FILE* const file = fopen(path, "rb");
  void* block;
  long size = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  if (size < 0 || fseek(file, 0, SEEK_SET) != 0) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  block = memory_of((size_t)size);
  *bytes = fread(block, 1, (size_t)size, file);
  fclose(file);
  return block;
}

static nsk_model* open_model(const char* path) {
  size_t bytes;
  const void* const file = read_file(path, &bytes);
  nsk_model* model;
  check(NULL,
        nsk_model_open(memory_of(nsk_model_required_bytes()), nsk_model_required_bytes(), file, bytes, 0, &model));
  return model;
}

static nsk_session* open_session(const nsk_model* model) {
  uint64_t bytes;
  nsk_session* session;
  check(model, nsk_arena_required_bytes(model, 0, 1, &bytes));
  check(model, nsk_session_open(memory_of(nsk_session_required_bytes()), nsk_session_required_bytes(), model, 0,
                                memory_of((size_t)bytes), (size_t)bytes, &session));
  return session;
}

static void fill_inputs(const nsk_model* model, nsk_session* session) {
  int32_t i;
  for (i = 0; i < nsk_model_input_count(model, 0); ++i) {
    nsk_port port;
    void* data;
    uint64_t bytes, k;
    check(model, nsk_model_input(model, 0, i, &port, sizeof port));
    check(model, nsk_session_input(session, i, &data, &bytes)); /* the elements in the arena: nothing is copied */
    if (port.type != nsk_type_float32) continue;
    for (k = 0; k < port.elements; ++k) ((float*)data)[k] = 0.5f;
  }
}

static void print_outputs(const nsk_model* model, const nsk_session* session) {
  int32_t i;
  for (i = 0; i < nsk_model_output_count(model, 0); ++i) {
    nsk_port port;
    const void* data;
    uint64_t bytes, k;
    check(model, nsk_model_output(model, 0, i, &port, sizeof port));
    check(model, nsk_session_output(session, i, &data, &bytes));
    printf("%s:", port.name);
    for (k = 0; port.type == nsk_type_float32 && k < port.elements && k < 10; ++k)
      printf(" %g", (double)((const float*)data)[k]);
    printf("\n");
  }
}

int main(int argc, char** argv) {
  const nsk_model* model;
  nsk_session* session;
  int32_t complete = 0;
  int frames = 0;
  if (argc != 2) {
    fprintf(stderr, "usage: main MODEL.nsk\n");
    return 1;
  }
  check(NULL, nsk_check_library(NSK_C_VERSION));
  model = open_model(argv[1]);
  session = open_session(model);
  fill_inputs(model, session);
  for (; complete == 0; ++frames) check(model, nsk_session_run_for_work(session, 100000, NULL, &complete));
  printf("%s: %d frames of 100000 multiply-accumulates\n", nsk_model_name(model), frames);
  print_outputs(model, session);
  return 0;
}
