// SPDX-License-Identifier: MIT
#pragma once
/// A run of steps of a hybrid plan that have no shader: they run on the CPU, between two parts on the device.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/span.hpp>

NSK_BEGIN
namespace gpu {

/// Bytes [offset, offset + bytes) of the arena; both are multiples of 4.
struct arena_range {
  std::uint64_t offset = 0, bytes = 0;
  constexpr std::uint64_t end() const { return offset + bytes; }
};

/// The steps of a part, and what crosses the border: ranges that do not touch each other, in ascending order. In a
/// buffer of the renderer, and in the CPU's memory, they follow each other without gaps.
struct cpu_part_view {
  int first_step = 0, step_count = 0;
  span<const arena_range> read_back{};  ///< from the device's arena, before the part
  span<const arena_range> upload{};     ///< to the device's arena, after it

  std::size_t read_back_bytes() const { return sum_of(read_back); }
  std::size_t upload_bytes() const { return sum_of(upload); }

 private:
  static std::size_t sum_of(const span<const arena_range>& ranges) {
    std::uint64_t n = 0;
    for (const arena_range& r : ranges) n += r.bytes;
    return static_cast<std::size_t>(n);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
