// SPDX-License-Identifier: MIT
#pragma once
/// How many panels of packed weights (format/packing.hpp) a register tile takes, and where it may.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/kernel_set.hpp>
#include <netsuke/simd/vec.hpp>

NSK_BEGIN
namespace kernels {

/// Panels of 16 that tiles take together: two where a panel is one register. A tile of one register for each row reads
/// an input for each product, and processors with registers of 64 bytes multiply as fast as they read.
inline constexpr int max_tile_panels = 2, tile_panels = simd::f32::lanes >= panel_width ? max_tile_panels : 1;

namespace impl {

/// Bytes of a matrix from which on panels are prefetched while those before them are multiplied: what fits comes from
/// the second-level cache in time.
inline constexpr std::int64_t far_weights = 192 * 1024;

/// How many panels tiles take where there is code for the variants of `Functions` alone, and whether there are tiles
/// that prefetch: they are as wide as tiles can be.
template <class Functions>
inline constexpr int panels_together = variants_of<Functions>::panel_pairs ? tile_panels : 1;
template <class Functions>
inline constexpr bool has_far_tiles =
    variants_of<Functions>::prefetch_weights&& panels_together<Functions> == tile_panels;

/// Where vector v of neighbouring panels `step` elements apart begins.
constexpr std::ptrdiff_t vector_offset(int v, std::ptrdiff_t step) {
  constexpr int each = panel_width / simd::f32::lanes;
  return v / each * step + v % each * simd::f32::lanes;
}

/// Returns whether panels [index, index + count) of a matrix, whose column 0 is `first_channel` of the output, are 16
/// wide and in output channels [begin, end).
inline bool has_whole_panels(std::int64_t channels, int first_channel, int index, int count, int begin, int end) {
  const int left = first_channel + index * panel_width;
  return begin <= left && left + count * panel_width <= end && index + count <= panel_count(channels) &&
         width_of_panel(channels, index + count - 1) == panel_width;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
