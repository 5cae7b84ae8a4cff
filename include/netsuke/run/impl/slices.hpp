// SPDX-License-Identifier: MIT
#pragma once
/// Where a call that has a budget stops.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <type_traits>
#include <netsuke/run/budget.hpp>
#include <netsuke/run/impl/requirements.hpp>

NSK_BEGIN
namespace impl {

/// Reads a clock: a callable that returns nsk::microseconds or a number of microseconds.
template <class Clock>
std::int64_t read_clock(Clock& clock) {
  if constexpr (!is_clock<Clock>) {
    return static_cast<void>(clock), 0;  // the session has said so
  } else if constexpr (std::is_same_v<std::decay_t<decltype(clock())>, microseconds>) {
    return clock().count;
  } else {
    return static_cast<std::int64_t>(clock());
  }
}

/// Says when one call has used its time: as soon as another tile like the last one would not fit.
template <class Clock>
class deadline {
 public:
  deadline(Clock& clock, microseconds budget)
      : m_clock(&clock), m_last(read_clock(clock)), m_end(m_last + budget.count) {}
  /// Call after each tile.
  bool reached() {
    const std::int64_t now = read_clock(*m_clock), length = now - m_last;
    m_last = now;
    return now + length > m_end || now >= m_end;
  }

 private:
  Clock* m_clock;
  std::int64_t m_last, m_end;
};

/// What is left of the work of one call.
struct work_left {
  std::uint64_t macs;
  /// Returns how many of `tiles` tiles fit, each of `macs_of_tile` (1 for 0); at least one where `must_take`.
  std::int32_t take(std::uint64_t macs_of_tile, std::int32_t tiles, bool must_take) {
    const std::uint64_t cost = macs_of_tile == 0 ? 1 : macs_of_tile;
    std::uint64_t fit = macs / cost;
    if (fit == 0 && must_take) fit = 1;
    const std::int32_t taken = fit < static_cast<std::uint64_t>(tiles) ? static_cast<std::int32_t>(fit) : tiles;
    const std::uint64_t used = static_cast<std::uint64_t>(taken) * cost;
    macs = used < macs ? macs - used : 0;
    return taken;
  }
};

/// Takes tiles from `source` until the deadline; the first one always.
template <class Source, class Clock>
struct tiles_until {
  Source source;
  deadline<Clock> limit;
  bool started = false;
  std::int32_t take() {
    if (started && limit.reached()) return -1;
    started = true;
    return source.take();
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
