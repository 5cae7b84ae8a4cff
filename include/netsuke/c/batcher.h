/* SPDX-License-Identifier: MIT */
#ifndef NETSUKE_C_BATCHER_H
#define NETSUKE_C_BATCHER_H
/*
 * One run for many callers, a part of netsuke/c/netsuke.h: rows that any number of threads hand in become the batch of
 * one inference per frame.
 *
 *     nsk_batcher_options how = {NULL, 0, 1000, 256};       no recurrent states; agents, rows that wait
 *     uint64_t bytes;
 *     nsk_batcher* crowd;
 *     nsk_status s = nsk_batcher_required_bytes(model, 0, &how, sizeof how, &bytes);
 *     if (s.code == 0) s = nsk_batcher_open(memory, bytes, model, 0, &how, sizeof how, &crowd);
 *
 *     s = nsk_batcher_ask(crowd, 17, seen, nsk_batcher_row_bytes(crowd));       any thread, for agent 17
 *     s = nsk_batcher_run(crowd, net, NULL);                                    one thread, once per frame
 *     if (nsk_batcher_standing(crowd, 17) == nsk_agent_answered) s = nsk_batcher_read(crowd, 17, 0, todo, todo_bytes);
 *
 * docs/guide/batcher.md says what is promised about order, fairness, waiting and recurrent states.
 */
#include <netsuke/c/base.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct nsk_jobs;

/* A recurrent state of each agent: what a run leaves in the output is the input of the agent's next row. */
typedef struct nsk_recurrent_pair {
  const char* input;
  const char* output;
} nsk_recurrent_pair;

typedef struct nsk_batcher_options {
  const nsk_recurrent_pair* recurrent_states; /* read while the batcher is made */
  int32_t recurrent_state_count;              /* at most 128 */
  int32_t agents;                             /* who asks: 0 to agents - 1 */
  int32_t slots;                              /* rows that can wait at once; with as many as agents it is never full */
  int32_t reserved;
} nsk_batcher_options;

/* Whether an agent has asked: not yet, without an answer so far, with an answer. */
enum nsk_agent_standing { nsk_agent_idle, nsk_agent_waiting, nsk_agent_answered };

/* Gives the bytes of memory that nsk_batcher_open needs, handle and rows together, exactly; 0 for a variant or options
 * that it refuses. */
NSK_C_API nsk_status nsk_batcher_required_bytes(const nsk_model* model, int32_t variant, const nsk_batcher_options* how,
                                                size_t how_bytes, uint64_t* bytes) NSK_C_NOEXCEPT;
/* Makes a batcher for rows of a variant with a batch (nsk convert --batch-max) in memory at a multiple of
 * nsk_arena_alignment. On failure *batcher is null: no_rows, no_such_port, other_ports, too_little_memory. The file's
 * bytes must outlive it, the model's handle need not. */
NSK_C_API nsk_status nsk_batcher_open(void* memory, size_t memory_bytes, const nsk_model* model, int32_t variant,
                                      const nsk_batcher_options* how, size_t how_bytes,
                                      nsk_batcher** batcher) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_batcher_close(nsk_batcher* batcher) NSK_C_NOEXCEPT;

/* --- callers, on any thread --- */

/* Returns the bytes of a row: its part of all inputs that are no recurrent states, one behind the other in the order of
 * the model. 0 for a bad handle. */
NSK_C_API uint64_t nsk_batcher_row_bytes(const nsk_batcher* batcher) NSK_C_NOEXCEPT;
/* Hands a row over, which is copied. nsk_status_queue_full and nsk_status_already_waiting: ask again after a run. */
NSK_C_API nsk_status nsk_batcher_ask(nsk_batcher* batcher, int32_t agent, const void* row,
                                     uint64_t row_bytes) NSK_C_NOEXCEPT;
/* Returns a value of nsk_agent_standing; -1 for a bad handle or agent. */
NSK_C_API int32_t nsk_batcher_standing(const nsk_batcher* batcher, int32_t agent) NSK_C_NOEXCEPT;
/* Give, and copy, the elements of an agent's part of an output: those of its last answer, until it asks again. */
NSK_C_API nsk_status nsk_batcher_output(const nsk_batcher* batcher, int32_t agent, int32_t output, const void** data,
                                        uint64_t* bytes) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_batcher_read(const nsk_batcher* batcher, int32_t agent, int32_t output, void* data,
                                      uint64_t bytes) NSK_C_NOEXCEPT;
/* Gives the recurrent states of an agent, in the order of the options, each at a multiple of 16 bytes: to be saved, put
 * back or changed while the agent does not wait. */
NSK_C_API nsk_status nsk_batcher_recurrent_states(nsk_batcher* batcher, int32_t agent, void** data,
                                                  uint64_t* bytes) NSK_C_NOEXCEPT;
/* Makes the recurrent states of an agent that does not wait zeros. */
NSK_C_API nsk_status nsk_batcher_reset(nsk_batcher* batcher, int32_t agent) NSK_C_NOEXCEPT;

/* --- the thread that runs --- */

/* Answers the oldest rows, at most as many as the batch has, in one run of a session of the batcher's variant. */
NSK_C_API nsk_status nsk_batcher_run(nsk_batcher* batcher, nsk_session* session,
                                     const struct nsk_jobs* jobs) NSK_C_NOEXCEPT;
/* The parts of nsk_batcher_run, for inferences that take several frames: gather fills the session's inputs, the caller
 * runs it in slices, scatter answers. *rows becomes their number, 0 where no agent waits; a second gather in front of
 * scatter changes nothing. */
NSK_C_API nsk_status nsk_batcher_gather(nsk_batcher* batcher, nsk_session* session, int32_t* rows) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_batcher_scatter(nsk_batcher* batcher, nsk_session* session) NSK_C_NOEXCEPT;
/* Return how many rows the last run answered, and whose row `row` was; -1 for a bad handle or row. */
NSK_C_API int32_t nsk_batcher_served(const nsk_batcher* batcher) NSK_C_NOEXCEPT;
NSK_C_API int32_t nsk_batcher_served_agent(const nsk_batcher* batcher, int32_t row) NSK_C_NOEXCEPT;

#if defined(__cplusplus)
}
#endif
#endif
