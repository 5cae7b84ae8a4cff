// SPDX-License-Identifier: MIT
#pragma once
/// Recurrent state: dense blocks in the arena that survive from run to run, and snapshots of them.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/ops/impl/memory_map.hpp>

NSK_BEGIN
namespace impl {

/// Returns the bytes of all states, in the order of the file.
inline std::size_t state_bytes(const variant_view& v) {
  std::size_t sum = 0;
  for (int i = 0; i < v.state_count(); ++i) sum += v.state(i).tensor().bytes();
  return sum;
}

/// Gives every state its initial value: the file's constant, or zeros.
inline void reset_states(const impl::memory_map& m) {
  for (int i = 0; i < m.variant.state_count(); ++i) {
    const state_view state = m.variant.state(i);
    if (state.has_initial()) {
      std::memcpy(m.data(state.tensor()), m.data(state.initial()), state.tensor().bytes());
    } else {
      std::memset(m.data(state.tensor()), 0, state.tensor().bytes());
    }
  }
}

/// Makes what the run wrote the states of the next one.
inline void commit_states(const impl::memory_map& m) {
  for (int i = 0; i < m.variant.state_count(); ++i) {
    const state_view state = m.variant.state(i);
    std::byte* const target = m.data(state.tensor());
    const std::byte* const source = m.data(state.next());
    if (target != source) std::memcpy(target, source, state.tensor().bytes());
  }
}

inline void save_states(const impl::memory_map& m, std::byte* to) {
  for (int i = 0; i < m.variant.state_count(); ++i) {
    const tensor_info t = m.variant.state(i).tensor();
    std::memcpy(to, m.data(t), t.bytes());
    to += t.bytes();
  }
}

inline void load_states(const impl::memory_map& m, const std::byte* from) {
  for (int i = 0; i < m.variant.state_count(); ++i) {
    const tensor_info t = m.variant.state(i).tensor();
    std::memcpy(m.data(t), from, t.bytes());
    from += t.bytes();
  }
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
