// SPDX-License-Identifier: MIT
#pragma once
/// A batcher through the C interface: handle and rows are in one block of the caller.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstring>
#include <netsuke/c/impl/library.hpp>
#include <netsuke/c/impl/model.hpp>
#include <netsuke/c/impl/run.hpp>

#if defined(NSK_C_IMPLEMENTATION)
NSK_BEGIN
namespace impl {

inline constexpr std::int32_t c_max_recurrent_states = 128;

/// Options of the caller, as the C++ library has them. It holds the pairs that `how` refers to.
struct c_batcher_options {
  batcher_options how;
  recurrent_pair pairs[c_max_recurrent_states];

  /// Options and their bytes are arguments 2 and 3 of `from`.
  nsk_status take(const nsk_batcher_options* from, std::size_t bytes, std::int32_t number) {
    if (from == nullptr) return c_bad_argument(number);
    if (bytes < sizeof *from) return c_bad_argument(number + 1);
    const std::int32_t count = from->recurrent_state_count;
    if (count < 0 || count > c_max_recurrent_states) return c_bad_argument(number);
    if (count > 0 && from->recurrent_states == nullptr) return c_bad_argument(number);
    for (std::int32_t i = 0; i < count; ++i) {
      const nsk_recurrent_pair& pair = from->recurrent_states[i];
      if (pair.input == nullptr || pair.output == nullptr) return c_bad_argument(number);
      pairs[i] = {pair.input, pair.output};
    }
    how.agents = from->agents;
    how.slots = from->slots;
    how.recurrent_states = {pairs, static_cast<std::size_t>(count)};
    return {nsk_status_ok, -1};
  }
};

/// The handle is at the first multiple of its alignment in the block, the rows behind it.
inline constexpr std::size_t c_batcher_head =
    (sizeof(nsk_batcher) + alignof(nsk_batcher) + arena_alignment - 1) / arena_alignment * arena_alignment;
inline nsk_batcher* c_batcher_in(void* memory) {
  const std::uintptr_t behind = reinterpret_cast<std::uintptr_t>(memory) % alignof(nsk_batcher);
  const std::size_t before = behind == 0 ? 0 : alignof(nsk_batcher) - behind;
  return static_cast<nsk_batcher*>(static_cast<void*>(static_cast<std::byte*>(memory) + before));
}

inline nsk_status c_agent_part(const nsk_batcher* batcher, std::int32_t agent, std::int32_t output,
                               span<const std::byte>& part) {
  if (!c_is_handle(batcher)) return c_bad_handle();
  const checked_span<const std::byte> found = batcher->rows.output_bytes(agent, output);
  if (found) part = {found.data(), found.size()};
  return c_status(found.status());
}

}
NSK_END

extern "C" {
nsk_status nsk_batcher_required_bytes(const nsk_model* model, int32_t variant, const nsk_batcher_options* how,
                                      size_t how_bytes, uint64_t* bytes) noexcept {
  if (const nsk_status s = nsk::impl::c_check_variant(model, variant); s.code != 0) return s;
  nsk::impl::c_batcher_options options;
  if (const nsk_status s = options.take(how, how_bytes, 2); s.code != 0) return s;
  if (bytes == nullptr) return nsk::impl::c_bad_argument(4);
  const std::size_t rows = nsk::batcher::required_bytes(model->view, options.how, variant);
  *bytes = rows == 0 ? 0 : rows + nsk::impl::c_batcher_head;
  return {nsk_status_ok, -1};
}
nsk_status nsk_batcher_open(void* memory, size_t memory_bytes, const nsk_model* model, int32_t variant,
                            const nsk_batcher_options* how, size_t how_bytes, nsk_batcher** batcher) noexcept {
  if (batcher == nullptr) return nsk::impl::c_bad_argument(6);
  *batcher = nullptr;
  if (memory == nullptr) return nsk::impl::c_bad_argument(0);
  if (reinterpret_cast<std::uintptr_t>(memory) % nsk::arena_alignment != 0) return {nsk_status_misaligned_memory, -1};
  if (const nsk_status s = nsk::impl::c_check_variant(model, variant); s.code != 0) return s;
  nsk::impl::c_batcher_options options;
  if (const nsk_status s = options.take(how, how_bytes, 4); s.code != 0) return s;
  const std::size_t head = memory_bytes < nsk::impl::c_batcher_head ? memory_bytes : nsk::impl::c_batcher_head;
  nsk_batcher opened = {
      0, {model->view, options.how, {static_cast<std::byte*>(memory) + head, memory_bytes - head}, variant}};
  if (!opened.rows) return nsk::impl::c_status(opened.rows.status());
  *batcher = nsk::impl::c_make_handle(nsk::impl::c_batcher_in(memory), opened);
  return {nsk_status_ok, -1};
}
nsk_status nsk_batcher_close(nsk_batcher* batcher) noexcept { return nsk::impl::c_close(batcher); }

uint64_t nsk_batcher_row_bytes(const nsk_batcher* batcher) noexcept {
  return nsk::impl::c_is_handle(batcher) ? batcher->rows.row_bytes() : 0;
}
nsk_status nsk_batcher_ask(nsk_batcher* batcher, int32_t agent, const void* row, uint64_t row_bytes) noexcept {
  if (!nsk::impl::c_is_handle(batcher)) return nsk::impl::c_bad_handle();
  if (row == nullptr) return nsk::impl::c_bad_argument(2);
  if (row_bytes != batcher->rows.row_bytes()) return {nsk_status_wrong_size, -1};
  return nsk::impl::c_status(
      batcher->rows.ask(agent, {static_cast<const std::byte*>(row), static_cast<std::size_t>(row_bytes)}));
}
int32_t nsk_batcher_standing(const nsk_batcher* batcher, int32_t agent) noexcept {
  if (!nsk::impl::c_is_handle(batcher) || !batcher->rows.has_agent(agent)) return -1;
  if (batcher->rows.waiting(agent)) return nsk_agent_waiting;
  return batcher->rows.answered(agent) ? nsk_agent_answered : nsk_agent_idle;
}
nsk_status nsk_batcher_output(const nsk_batcher* batcher, int32_t agent, int32_t output, const void** data,
                              uint64_t* bytes) noexcept {
  nsk::span<const std::byte> part;
  if (const nsk_status s = nsk::impl::c_agent_part(batcher, agent, output, part); s.code != 0) return s;
  if (data == nullptr) return nsk::impl::c_bad_argument(3);
  if (bytes == nullptr) return nsk::impl::c_bad_argument(4);
  *data = part.data();
  *bytes = part.size();
  return {nsk_status_ok, -1};
}
nsk_status nsk_batcher_read(const nsk_batcher* batcher, int32_t agent, int32_t output, void* data,
                            uint64_t bytes) noexcept {
  nsk::span<const std::byte> part;
  if (const nsk_status s = nsk::impl::c_agent_part(batcher, agent, output, part); s.code != 0) return s;
  if (data == nullptr) return nsk::impl::c_bad_argument(3);
  if (bytes != part.size()) return {nsk_status_wrong_size, output};
  std::memcpy(data, part.data(), part.size());
  return {nsk_status_ok, -1};
}
nsk_status nsk_batcher_recurrent_states(nsk_batcher* batcher, int32_t agent, void** data, uint64_t* bytes) noexcept {
  if (!nsk::impl::c_is_handle(batcher)) return nsk::impl::c_bad_handle();
  const nsk::checked_span<std::byte> states = batcher->rows.recurrent_states(agent);
  if (!states) return nsk::impl::c_status(states.status());
  if (data == nullptr) return nsk::impl::c_bad_argument(2);
  if (bytes == nullptr) return nsk::impl::c_bad_argument(3);
  *data = states.data();
  *bytes = states.size();
  return {nsk_status_ok, -1};
}
nsk_status nsk_batcher_reset(nsk_batcher* batcher, int32_t agent) noexcept {
  if (!nsk::impl::c_is_handle(batcher)) return nsk::impl::c_bad_handle();
  const nsk::checked_span<std::byte> states = batcher->rows.recurrent_states(agent);
  if (states) batcher->rows.reset(agent);
  return nsk::impl::c_status(states.status());
}

nsk_status nsk_batcher_gather(nsk_batcher* batcher, nsk_session* session, int32_t* rows) noexcept {
  if (!nsk::impl::c_is_handle(batcher) || !nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  if (rows == nullptr) return nsk::impl::c_bad_argument(2);
  int count = 0;
  const nsk::status s = batcher->rows.gather(session->net, count);
  *rows = count;
  return nsk::impl::c_status(s);
}
nsk_status nsk_batcher_scatter(nsk_batcher* batcher, nsk_session* session) noexcept {
  if (!nsk::impl::c_is_handle(batcher) || !nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  if (const nsk::status s = batcher->rows.check_session(session->net); !s) return nsk::impl::c_status(s);
  batcher->rows.scatter(session->net);
  return {nsk_status_ok, -1};
}
nsk_status nsk_batcher_run(nsk_batcher* batcher, nsk_session* session, const nsk_jobs* jobs) noexcept {
  int32_t rows = 0;
  if (const nsk_status s = nsk::impl::c_check_jobs(session, jobs, 2); s.code != 0) return s;
  if (const nsk_status s = nsk_batcher_gather(batcher, session, &rows); s.code != 0 || rows == 0) return s;
  if (const nsk_status s = nsk_session_run(session, jobs); s.code != 0) return s;
  return nsk_batcher_scatter(batcher, session);
}
int32_t nsk_batcher_served(const nsk_batcher* batcher) noexcept {
  return nsk::impl::c_is_handle(batcher) ? batcher->rows.served() : -1;
}
int32_t nsk_batcher_served_agent(const nsk_batcher* batcher, int32_t row) noexcept {
  if (!nsk::impl::c_is_handle(batcher) || row < 0 || row >= batcher->rows.served()) return -1;
  return batcher->rows.served_agent(row);
}
}
#endif
#include <netsuke/core/restore_macros.hpp>
