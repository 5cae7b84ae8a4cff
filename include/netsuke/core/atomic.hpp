// SPDX-License-Identifier: MIT
#pragma once
/// The shared variables of the engine: the number of the next tile, and words that threads hand to each other.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/assert.hpp>
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

NSK_BEGIN
/// Hands out 0, 1, 2, ... to any number of threads, each number once. Alone on its cache lines.
class alignas(128) tile_counter {
 public:
  explicit tile_counter(std::int32_t first = 0) : m_next(first) {}
  /// Returns the next number. Relaxed: what orders the results is the end of the caller's parallel_for.
  std::int32_t take() {
#if defined(_MSC_VER) && !defined(__clang__)
    return static_cast<std::int32_t>(_InterlockedExchangeAdd(&m_next, 1));
#else
    return __atomic_fetch_add(&m_next, 1, __ATOMIC_RELAXED);
#endif
  }

  /// Returns the next number without taking it; for the time after parallel_for.
  std::int32_t value() const { return static_cast<std::int32_t>(m_next); }

 private:
#if defined(_MSC_VER) && !defined(__clang__)
  volatile long m_next;
#else
  std::int32_t m_next;
#endif
};

/// A number that threads hand to each other: what was written before store() is visible after a load() that sees it.
class atomic_word {
 public:
  explicit atomic_word(std::uint32_t first = 0) : m_value(first) {}
  atomic_word(const atomic_word&) = delete;
  atomic_word& operator=(const atomic_word&) = delete;

#if defined(_MSC_VER) && !defined(__clang__)
  std::uint32_t load() const { return static_cast<std::uint32_t>(_InterlockedOr(&m_value, 0)); }
  void store(std::uint32_t value) { _InterlockedExchange(&m_value, static_cast<long>(value)); }
  /// Writes `value` where the number is `expected`. Returns whether it was.
  bool replace(std::uint32_t expected, std::uint32_t value) {
    return _InterlockedCompareExchange(&m_value, static_cast<long>(value), static_cast<long>(expected)) ==
           static_cast<long>(expected);
  }

 private:
  mutable volatile long m_value;
#else
  std::uint32_t load() const { return __atomic_load_n(&m_value, __ATOMIC_ACQUIRE); }
  void store(std::uint32_t value) { __atomic_store_n(&m_value, value, __ATOMIC_RELEASE); }
  /// Writes `value` where the number is `expected`. Returns whether it was.
  bool replace(std::uint32_t expected, std::uint32_t value) {
    return __atomic_compare_exchange_n(&m_value, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }

 private:
  std::uint32_t m_value;
#endif
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
