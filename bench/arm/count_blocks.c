// SPDX-License-Identifier: MIT
// A plug-in for qemu-aarch64 8.1 or older (version 1 of its interface, of which this declares what it uses): counts how
// often each translated block runs, and writes at the end, for each, that number and its instructions as hexadecimal
// words. Its argument is out=FILE. bench/arm_instructions.py compiles it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, enum qemu_plugin_op, void*, uint64_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);

EXPORT int qemu_plugin_version = 1;

struct block {
  uint64_t runs;
  size_t size;
  struct block* next;
  uint32_t code[];
};
static struct block* blocks;
static const char* path = "blocks.txt";

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const size_t size = qemu_plugin_tb_n_insns(tb);
  struct block* const b = calloc(1, sizeof *b + size * sizeof *b->code);
  if (b == NULL) return;
  b->size = size;
  for (size_t i = 0; i < size; ++i)
    memcpy(b->code + i, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i)), sizeof *b->code);
  b->next = blocks;
  blocks = b;
  qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &b->runs, 1);
}

static void ended(qemu_plugin_id_t id, void* nothing) {
  (void)id;
  (void)nothing;
  FILE* const file = fopen(path, "w");
  if (file == NULL) return;
  for (const struct block* b = blocks; b != NULL; b = b->next) {
    if (b->runs == 0) continue;
    fprintf(file, "%llu", (unsigned long long)b->runs);
    for (size_t i = 0; i < b->size; ++i) fprintf(file, " %08x", b->code[i]);
    fputc('\n', file);
  }
  fclose(file);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; ++i)
    if (strncmp(argv[i], "out=", 4) == 0) path = argv[i] + 4;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
