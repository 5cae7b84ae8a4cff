// SPDX-License-Identifier: MIT
#pragma once
/// The loop of one lane over the tiles of one step. Where tiles come from decides who else works: run/impl/serial.hpp,
/// jobs.hpp, budget.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/run/impl/bound_step.hpp>
#include <netsuke/run/impl/counted_lengths.hpp>
#include <netsuke/run/impl/serial.hpp>
#include <netsuke/simd/float_env.hpp>

NSK_BEGIN
namespace impl {

/// Runs tiles until `tiles.take()` answers -1. Sets the floating-point mode that equal bits need and restores the
/// caller's. Binds no step that has none: its tensors may be empty.
template <class Settings, class Tiles>
NSK_NOINLINE void run_lane(const impl::memory_map& memory, const step_view& step, std::byte* scratch, Tiles& tiles) {
  std::int32_t tile = tiles.take();
  if (tile < 0) return;
  const float_environment mode;
  const impl::bound_step<Settings> bound(memory, step);
  for (; tile >= 0; tile = tiles.take()) bound.run(tile, scratch);
}

/// Computes a tile of a step whose tiles the caller drives; nothing where lengths leave the step fewer tiles. Other
/// lanes may be here, so that lengths which steps have counted are read into a copy.
template <class Settings>
void run_tile(memory_map memory, run_lengths lengths, const step_view& step, std::int32_t tile, std::byte* scratch) {
  if (are_counted<Settings>(lengths)) take_counts(lengths, memory, 0, step.index());
  memory.lengths = lengths.values();
  serial_tiles tiles{tile, tile < step.tile_count(memory.lengths) ? tile + 1 : tile};
  run_lane<Settings>(memory, step, scratch, tiles);
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
