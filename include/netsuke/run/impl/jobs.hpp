// SPDX-License-Identifier: MIT
#pragma once
/// Tiles for the game's job system: any object with `parallel_for(count, f)`, which calls f(i) once for each i in [0,
/// count), on any threads, in any order or one after the other, and returns when all have returned.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/assert.hpp>
#include <netsuke/core/atomic.hpp>
#include <netsuke/run/impl/requirements.hpp>

NSK_BEGIN
namespace impl {

/// A share of the tiles [.., end) that several lanes take from one counter.
struct shared_tiles {
  tile_counter* counter;
  std::int32_t end;
  std::int32_t take() {
    const std::int32_t tile = counter->take();
    return tile < end ? tile : -1;
  }
};

/// Tiles [begin, end) of a step, dealt to lanes in runs of neighbours: a lane that works on the same part of every step
/// finds in its own caches what it wrote in the step before.
class dealt_tiles {
 public:
  static constexpr int max_runs = 16;

  dealt_tiles(std::int32_t begin, std::int32_t end, int lanes)
      : m_begin(begin), m_tiles(end - begin), m_runs(lanes < max_runs ? lanes : max_runs), m_lanes(lanes) {
    for (int i = 0; i < m_runs; ++i) m_next[i] = tile_counter(first_of(i));
  }
  int runs() const { return m_runs; }
  int run_of_lane(int lane) const { return static_cast<int>(std::int64_t{lane} * m_runs / m_lanes); }
  /// Returns a tile of that run, -1 when there is none left.
  std::int32_t take(int run) {
    const std::int32_t tile = m_next[run].take();
    return tile < first_of(run + 1) ? tile : -1;
  }

 private:
  std::int32_t first_of(int run) const {
    return m_begin + static_cast<std::int32_t>(std::int64_t{m_tiles} * run / m_runs);
  }

  std::int32_t m_begin, m_tiles;
  int m_runs, m_lanes;
  tile_counter m_next[max_runs];
};

/// What one lane takes: its own run, then what other lanes have not come to.
struct lane_tiles {
  dealt_tiles* all;
  int run, runs_left;
  lane_tiles(dealt_tiles& tiles, int lane) : all(&tiles), run(tiles.run_of_lane(lane)), runs_left(tiles.runs()) {}
  std::int32_t take() {
    for (; runs_left > 0; --runs_left, run = run + 1 < all->runs() ? run + 1 : 0) {
      const std::int32_t tile = all->take(run);
      if (tile >= 0) return tile;
    }
    return -1;
  }
};

/// Returns how many of `lane_count` lanes (0 = all that there is scratch for) have tiles, at least one.
inline int lanes_for(int lane_count, int with_scratch, std::int32_t tiles) {
  NSK_ASSERT(lane_count <= with_scratch, "session: more lanes than the memory has scratch for");
  const int usable = lane_count > 0 ? lane_count : with_scratch, count = usable < tiles ? usable : tiles;
  return count > 1 ? count : 1;
}

/// Calls lane(i) for so many lanes; a single one on this thread.
template <class Jobs, class Lane>
void on_lanes(Jobs& jobs, int count, const Lane& lane) {
  if (count <= 1) return lane(0);
  if constexpr (is_job_system<Jobs>) jobs.parallel_for(count, lane);
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
