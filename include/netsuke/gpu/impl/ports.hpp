// SPDX-License-Identifier: MIT
#pragma once
/// Where ports and states are in the arena, and how many bytes a copy of them has: whole words, of what
/// the plan computes.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/format/variant_view.hpp>

NSK_BEGIN
namespace gpu::impl {

inline std::size_t whole_words(std::size_t bytes) { return (bytes + 3) / 4 * 4; }
/// Bytes from the start of the arena.
inline std::size_t arena_offset(const tensor_info& t) {
  return static_cast<std::size_t>(t.buffer_offset() + t.offset());
}
inline std::size_t arena_offset(const port_view& p) { return arena_offset(p.tensor()); }
/// Bytes of a port in an inference of these lengths.
inline std::size_t port_bytes(const port_view& p, length_values lengths) {
  return p.elements(lengths) * static_cast<std::size_t>(size_of(p.type()));
}
inline std::size_t copied_bytes(const port_view& p, length_values lengths) {
  return whole_words(port_bytes(p, lengths));
}
/// Bytes of a snapshot of all states: each begins at a word.
inline std::size_t copied_state_bytes(const variant_view& v) {
  std::size_t sum = 0;
  for (int i = 0; i < v.state_count(); ++i) sum += whole_words(v.state(i).tensor().bytes());
  return sum;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
