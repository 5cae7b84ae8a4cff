// SPDX-License-Identifier: MIT
#include "profile/step_work.hpp"

#include <algorithm>

#include <netsuke/ops/every_op.hpp>
#include "ops/every_op.hpp"
#include "ops/impl/work_kinds.hpp"

namespace nsk::tool {
namespace {

/// Share of the output that the largest tile computes. Along each dimension all tiles but the last are as long as the
/// first.
double largest_tile_share(const step_view& s, const tile_space& space) {
  const tile_grid grid = tile_grid_of(space, s.tile());
  std::int64_t rows = 0, pixels = 0, channels = 0;
  for (const std::int64_t i : {std::int64_t{0}, grid.count() - 1}) {
    const tile_range r = range_of_tile(space, s.tile(), grid, i);
    rows = std::max<std::int64_t>(rows, r.row_end - r.row_begin);
    pixels = std::max<std::int64_t>(pixels, r.pixel_end - r.pixel_begin);
    channels = std::max<std::int64_t>(channels, r.channel_end - r.channel_begin);
  }
  return static_cast<double>(rows * pixels * channels) /
         static_cast<double>(std::max<std::int64_t>(1, space.rows * space.pixels * space.channels));
}

}

step_work describe_work(const step_view& s) {
  const tensor_info output = s.output();
  const tile_space space = tile_space_of(output.shape().data(), output.rank());
  step_work w;
  w.kind = work_kind_of(s, space);
  w.depth = static_cast<double>(nsk::impl::taps_of(s));
  w.rows = static_cast<double>(space.rows * space.pixels);
  w.columns = static_cast<double>(s.macs() > 0 ? (space.channels + 7) / 8 * 8 : space.channels);
  if (w.kind == "elementwise" || w.kind == "function" || w.kind == "copy" || w.kind == "shuffle") {
    w.rows = static_cast<double>(output.elements());
    w.columns = 1;
  }
  w.macs = static_cast<double>(s.macs());
  for (int i = 0; i < s.input_count(); ++i) {
    const tensor_info t = s.input(i);
    (t.where() == storage::constant ? w.weight_bytes : w.activation_bytes) += static_cast<double>(t.bytes());
  }
  for (int i = 0; i < s.output_count(); ++i) w.activation_bytes += static_cast<double>(s.output(i).bytes());
  if (s.op() != op::unary && is_costly(s.epilogue().fn)) w.functions = static_cast<double>(output.elements());
  w.tiles = s.tile_count();
  w.largest_tile = largest_tile_share(s, space);
  return w;
}

}
