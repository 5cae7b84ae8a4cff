// SPDX-License-Identifier: MIT
#include <algorithm>
#include "ops/every_op.hpp"
#include "planner/planner.hpp"

namespace nsk::tool {

void plan_tiles(plan& p, std::int64_t max_macs) {
  for (plan_step& s : p.steps) {
    const tile_request request{p, s, max_macs};
    const tile_size t = tiles_of(request);
    s.tile = {t.rows, t.pixels, t.channels, static_cast<std::uint32_t>(tile_grid_of(request.space(), t).count())};
    s.scratch_bytes = scratch_bytes_of(p, s);
    p.lane_bytes = std::max(p.lane_bytes, (s.scratch_bytes + 63) / 64 * 64);
  }
}

}
