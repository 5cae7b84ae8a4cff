// SPDX-License-Identifier: MIT
#pragma once
/// A bounded queue of slots: any number of threads take them in order, one thread empties them in the same order.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/atomic.hpp>

NSK_BEGIN
namespace impl {

/// A slot, and who sits in it. `turn` is twice the round in which it is free, one more when it is filled in it.
struct slot {
  atomic_word turn;
  std::int32_t agent = -1;
};

/// A ticket counts the rows that have been asked for, modulo limit(); its slot is the ticket modulo the number of
/// slots. No thread waits: take() repeats only when another thread has taken that ticket, front() tells whether the
/// oldest row is there.
class slot_queue {
 public:
  /// Uses `count` slots in the caller's memory, which become empty; `first` is the first ticket, below limit(count).
  void start(slot* slots, std::uint32_t count, std::uint32_t first = 0) {
    m_slots = slots;
    m_count = count;
    m_limit = limit(count);
    m_head = first;
    m_tail.store(first);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t round = first / count + (i < first % count ? 1 : 0);
      slots[i].turn.store(round == rounds() ? 0 : 2 * round);
      slots[i].agent = -1;
    }
  }
  /// The number of tickets: a multiple of the number of slots, about 2^31.
  static std::uint32_t limit(std::uint32_t count) { return 0x80000000u / count * count; }

  /// Takes the next slot. Returns false when all are taken. Any thread.
  bool take(std::uint32_t& ticket) {
    for (;;) {
      ticket = m_tail.load();
      const bool free = at(ticket).turn.load() == turn_of(ticket);
      if (free && m_tail.replace(ticket, next(ticket))) return true;
      if (!free && m_tail.load() == ticket) return false;
    }
  }
  /// Hands a slot that was taken, and filled, to the thread that empties slots.
  void fill(std::uint32_t ticket) { at(ticket).turn.store(turn_of(ticket) + 1); }

  /// Returns whether the oldest slot that was taken is filled. The emptying thread alone calls what follows.
  bool front() const { return at(m_head).turn.load() == turn_of(m_head) + 1; }
  std::uint32_t front_slot() const { return m_head % m_count; }
  /// Empties the oldest slot and goes on to the next.
  void pop() {
    slot& p = at(m_head);
    const std::uint32_t after = turn_of(m_head) + 2;
    p.turn.store(after == 2 * rounds() ? 0 : after);
    m_head = next(m_head);
  }

  slot& at(std::uint32_t ticket) const { return m_slots[ticket % m_count]; }

 private:
  std::uint32_t rounds() const { return m_limit / m_count; }
  std::uint32_t turn_of(std::uint32_t ticket) const { return ticket / m_count * 2; }
  std::uint32_t next(std::uint32_t ticket) const { return ticket + 1 == m_limit ? 0 : ticket + 1; }

  slot* m_slots = nullptr;
  std::uint32_t m_count = 1, m_limit = 0;
  // Each on cache lines of its own: one thread writes the head, all write the tail.
  alignas(128) std::uint32_t m_head = 0;
  alignas(128) atomic_word m_tail;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
