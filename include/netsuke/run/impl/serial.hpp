// SPDX-License-Identifier: MIT
#pragma once
/// Tiles for one thread.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>
#include <netsuke/format/step_view.hpp>

NSK_BEGIN
namespace impl {

/// Tiles from `next` to before `end`, upwards or, with `by` of -1, downwards.
struct serial_tiles {
  std::int32_t next, end, by = 1;
  std::int32_t take() {
    if (next == end) return -1;
    const std::int32_t tile = next;
    next += by;
    return tile;
  }
};

/// Bytes that a step reads and writes from which on a second-level cache (0.5 to 2 MB) keeps only the last of them.
inline constexpr std::uint64_t large_step_bytes = 1536 * 1024;

/// All tiles of a step, in the other direction than those of the step `before` where it is large: it so begins with
/// what is still in the cache.
inline serial_tiles tiles_after(const serial_tiles& before, const step_view& s, std::int32_t count) {
  const std::uint64_t read = s.input_count() > 0 ? s.input(0).bytes() : 0;
  if (before.by < 0 || read + s.output().bytes() < large_step_bytes) return {0, count};
  return {count - 1, -1, -1};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
