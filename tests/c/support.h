/* SPDX-License-Identifier: MIT */
/* What the programs of tests/c share: files, memory, handles. C99 and C++. */
#ifndef NETSUKE_TESTS_C_SUPPORT_H
#define NETSUKE_TESTS_C_SUPPORT_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netsuke/c/netsuke.h>

/* Stops the program where a call did not succeed, and says why. */
#define MUST(call)                                                                                          \
  do {                                                                                                      \
    const nsk_status must_status = (call);                                                                  \
    if (must_status.code != nsk_status_ok) {                                                                \
      fprintf(stderr, "%s:%d: %s: %s (where: %d)\n", __FILE__, __LINE__, nsk_status_name(must_status.code), \
              nsk_status_text(must_status.code), (int)must_status.where);                                   \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)

#define REQUIRE(condition)                                                      \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/* Memory at a multiple of 64, never freed: the programs end soon. */
static void* memory_of(size_t bytes) {
  unsigned char* const block = (unsigned char*)calloc(bytes + 64, 1);
  REQUIRE(block != NULL);
  return block + (64 - (uintptr_t)block % 64) % 64;
}

static void* read_file(const char* path, size_t* bytes) {
  FILE* const file = fopen(path, "rb");
  void* block;
  long size;
  REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
  size = ftell(file);
  REQUIRE(size > 0 && fseek(file, 0, SEEK_SET) == 0);
  block = memory_of((size_t)size);
  *bytes = fread(block, 1, (size_t)size, file);
  REQUIRE(*bytes == (size_t)size);
  fclose(file);
  return block;
}

static nsk_model* open_model(const char* path) {
  size_t bytes;
  const void* file = read_file(path, &bytes);
  nsk_model* model;
  const size_t prepared = nsk_prepare_required_bytes(file, bytes);
  if (prepared != 0) { /* a small file */
    void* const memory = memory_of(prepared);
    MUST(nsk_prepare(file, bytes, memory, prepared));
    file = memory;
    bytes = prepared;
  }
  MUST(nsk_model_open(memory_of(nsk_model_required_bytes()), nsk_model_required_bytes(), file, bytes,
                      nsk_open_check_hash, &model));
  return model;
}

static nsk_session* open_session(const nsk_model* model, int32_t lanes) {
  uint64_t bytes;
  nsk_session* session;
  MUST(nsk_arena_required_bytes(model, 0, lanes, &bytes));
  MUST(nsk_session_open(memory_of(nsk_session_required_bytes()), nsk_session_required_bytes(), model, 0,
                        memory_of((size_t)bytes), (size_t)bytes, &session));
  return session;
}

#endif
