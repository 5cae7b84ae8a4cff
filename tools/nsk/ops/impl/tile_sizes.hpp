// SPDX-License-Identifier: MIT
#pragma once
/// How large tiles are, for operator files: cuts of matrix products, of what memory bounds, and of Winograd's cells.
#include <algorithm>
#include <netsuke/format/tiles.hpp>
#include <netsuke/ops/op_traits.hpp>
#include "program/plan.hpp"

namespace nsk::tool {

constexpr std::int64_t min_tile_macs = 200'000;   ///< below this a tile costs more to hand out than it computes
constexpr std::int64_t wanted_tiles = 8;          ///< per step, so that a few lanes share it evenly
constexpr std::int64_t streamed_elements = 8192;  ///< of a memory-bound tile

/// A step whose tiles are wanted, of at most `max_macs` multiply-accumulates each.
struct tile_request {
  const plan& layout;
  const plan_step& step;
  std::int64_t max_macs;

  const plan_tensor& input(std::size_t i) const { return layout.tensor(step.inputs[i]); }
  const plan_tensor& output() const { return layout.tensor(step.outputs[0]); }
  int rank() const { return static_cast<int>(output().shape.size()); }
  tile_space space() const { return tile_space_of(output().shape.data(), rank()); }
  /// What a tile may have, and what it should have so that there are enough of them; of steps that count some.
  std::int64_t limit() const { return std::max(max_macs, min_tile_macs); }
  std::int64_t target() const { return std::clamp(step.macs / wanted_tiles, min_tile_macs, limit()); }
};

/// A tile's length along a dimension of length `all`: 0 where it is all.
std::uint32_t whole_or(std::int64_t size, std::int64_t all);

/// Cuts a product with the packed matrix `weights` of `depth` rows so that a tile's rows and columns are about as many:
/// that reads least per multiplication. Tiles of float16 weights, which are widened for all their rows, have more rows
/// and twice the size. A step of several algorithms counts its multiply-accumulates `gain` times.
tile_size gemm_tile_size(const tile_request& r, const plan_tensor& weights, std::int64_t depth, std::int64_t gain = 1);

/// Cuts a memory-bound output into about `elements` elements a tile; dimensions that must stay whole are given. A row
/// of few channels costs as much as one whole vector. Tiles of several rows have a multiple of `row_step`.
tile_size stream_tile_size(const tile_space& s, std::int64_t elements, impl::whole_axes whole,
                           std::int64_t row_step = 1);

/// Cuts channels only, into about `elements` elements a tile.
tile_size image_tile_size(const tile_space& s, std::int64_t elements);

/// Whole rows of Winograd cells, at least `min_cells` of them: every tile reads all transformed weights of its
/// channels, so few cells a tile are bound by memory. Tiles that are still too long split channels, which repeats the
/// transform of the input.
tile_size winograd_tile_size(const tile_space& s, std::int64_t height, std::int64_t images, conv_algorithm algorithm,
                             std::int64_t depth, std::int64_t maximum, std::int64_t wanted);

}
