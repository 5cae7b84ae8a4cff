// SPDX-License-Identifier: MIT
#pragma once
/// The one shared variable of the engine: the number of the next tile.
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
NSK_END
#include <netsuke/core/restore_macros.hpp>
