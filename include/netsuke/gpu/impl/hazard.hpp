// SPDX-License-Identifier: MIT
#pragma once
/// Which dispatches may run at the same time: those whose bytes do not meet. Bytes, not tensors, because the arena's
/// plan puts tensors of different lifetimes into the same place; borders do not count, because no shader touches them.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/gpu/impl/lowering.hpp>
#include <netsuke/model/impl/region.hpp>

NSK_BEGIN
namespace gpu::impl {

/// The bytes of the arena that a dispatch reads or writes through one tensor; none for constants.
struct access {
  int buffer = -1;
  bool writes = false;
  std::int64_t begin = 0, end = 0;  ///< in the arena
  nsk::impl::region region{};       ///< in the buffer
};

inline constexpr std::int64_t word_bytes = 4;
/// The words from the first byte of a region to its last: what shaders read and write of elements that are smaller.
inline nsk::impl::region words_of(const nsk::impl::region& r) {
  nsk::impl::region words;
  words.base = r.base / word_bytes * word_bytes;
  words.insert(1, (r.end() + word_bytes - 1) / word_bytes * word_bytes - words.base);
  return words;
}

inline access access_of(const tensor_info& t, length_values lengths, bool writes, bool half = false) {
  access a;
  if (t.where() == storage::constant) return a;
  tensor_view v = t.view(nullptr, lengths);
  const std::int64_t offset = static_cast<std::int64_t>(t.offset(lengths));
  v.border = {};
  bool repeats;
  if (half) v.type = dtype::float16;
  a.region = nsk::impl::region_of(v, half ? offset / 2 : offset, repeats);
  if (size_of(t.type()) < word_bytes) a.region = words_of(a.region);
  a.buffer = t.buffer();
  a.writes = writes;
  a.begin = static_cast<std::int64_t>(t.buffer_offset()) + a.region.base;
  a.end = static_cast<std::int64_t>(t.buffer_offset()) + a.region.end();
  return a;
}

inline access access_of_input(const step_view& s, length_values lengths, int i, operand_set halves) {
  return access_of(s.input(i), lengths, false, i < set_inputs && (halves >> i & 1) != 0);
}

/// Where scratch begins: behind all buffers.
inline std::uint64_t scratch_begin(const variant_view& v) { return (std::uint64_t{v.shared_bytes()} + 63) / 64 * 64; }
inline constexpr int scratch_buffer = 0x7fffffff;

inline access access_of(const variant_view& v, const scratch_range& scratch, bool writes) {
  access a;
  if (scratch.bytes == 0) return a;
  a.buffer = scratch_buffer;
  a.writes = writes;
  a.region.base = scratch.begin;
  a.region.insert(1, scratch.bytes);
  a.begin = static_cast<std::int64_t>(scratch_begin(v)) + scratch.begin;
  a.end = a.begin + scratch.bytes;
  return a;
}

/// Whether one of two accesses must wait for the other. What cannot be proven to be apart counts as meeting.
inline bool meet(const access& a, const access& b) {
  if ((!a.writes && !b.writes) || a.buffer < 0 || b.buffer < 0) return false;
  if (a.begin >= b.end || b.begin >= a.end) return false;
  return a.buffer != b.buffer || nsk::impl::shared_bytes(a.region, b.region) != 0;
}

/// Calls f(access) for everything that a dispatch touches until one call returns true; returns whether one did.
template <class F>
bool any_access(const variant_view& v, length_values lengths, const dispatch_record& r, F&& f) {
  if (r.step < 0) {  // the end of an inference copies a state's next value into it
    const state_view state = v.state(-1 - r.step);
    return f(access_of(state.next(), lengths, false)) || f(access_of(state.tensor(), lengths, true));
  }
  const bool reads = r.scratch_read.bytes > 0, writes = r.scratch_written.bytes > 0;
  if (f(access_of(v, r.scratch_read, false)) || f(access_of(v, r.scratch_written, true))) return true;
  if (reads && writes) return false;  // between two others of its step: scratch alone
  const step_view s = v.step(r.step);
  if (r.merged >= 0) {
    const step_view before = v.step(r.merged);
    for (int i = 0; i < before.input_count(); ++i) {
      if (f(access_of_input(before, lengths, i, r.merged_halves))) return true;
    }
  }
  // Input 0 behind a merged step is that one's output, which is not stored.
  for (int i = r.merged >= 0 ? 1 : 0; i < s.input_count(); ++i) {
    if (f(access_of_input(s, lengths, i, r.halves))) return true;
  }
  if (writes) return false;  // the step's last dispatch writes its outputs
  for (int i = 0; i < s.output_count(); ++i) {
    if (f(access_of(s.output(i), lengths, true, (r.halves & output_operand) != 0))) return true;
  }
  return false;
}

/// Whether two dispatches must keep their order, b behind a.
inline bool in_conflict(const variant_view& v, length_values lengths, const dispatch_record& a,
                        const dispatch_record& b) {
  if (a.step == b.step && b.beside) return false;
  return any_access(v, lengths, b, [&](const access& later) {
    return any_access(v, lengths, a, [&](const access& earlier) { return meet(earlier, later); });
  });
}

/// Dispatches between two barriers at most, so that placing barriers takes linear time.
inline constexpr int max_concurrent = 64;

/// Sets the barrier bits of `count` dispatches: one before each that meets a dispatch since the last barrier. Parts of
/// a hybrid plan begin with a barrier of their own.
inline void place_barriers(const variant_view& v, length_values lengths, dispatch_record* records, int count) {
  int first = 0;
  for (int i = 0; i < count; ++i) {
    if (records[i].pipeline == dispatch_record::on_cpu) {
      first = i + 1;
      continue;
    }
    bool needed = i - first >= max_concurrent;
    for (int k = first; k < i && !needed; ++k) needed = in_conflict(v, lengths, records[k], records[i]);
    records[i].barrier = needed;
    if (needed) first = i;
  }
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
