// SPDX-License-Identifier: MIT
#pragma once
/// Tiles for the game's job system: any object with `parallel_for(count, f)`, which calls f(i) once for each i in [0,
/// count), on any threads, in any order or one after the other, and returns when all have returned.
#include <netsuke/core/atomic.hpp>

NSK_BEGIN
namespace run_impl {

/// A share of the tiles [.., end) that several lanes take from one counter.
struct shared_tiles {
  tile_counter* counter;
  std::int32_t end;
  std::int32_t take() {
    const std::int32_t tile = counter->take();
    return tile < end ? tile : -1;
  }
};

}
NSK_END
