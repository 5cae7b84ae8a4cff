// SPDX-License-Identifier: MIT
#pragma once
/// How many panels of packed weights (format/packing.hpp) a register tile takes, and where it may.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/path.hpp>
#include <netsuke/simd/vec.hpp>

NSK_BEGIN
namespace kernels {

/// Panels of 16 that tiles take together where a panel is one register: three, or two where one would be left alone. A
/// tile of one register for each row reads an input for each product, and processors with registers of 64 bytes
/// multiply as fast as they read. Nine rows by three read 12 times for 27 products, ten by two 12 times for 20; such
/// processors run slower the more power they draw, so that what is read costs time even where it is read in time.
inline constexpr int max_tile_panels = 3, tile_panels = simd::f32::lanes >= panel_width ? max_tile_panels : 1,
                     pair_panels = tile_panels > 1 ? 2 : 1;

/// Whether the panels of a matrix are prefetched while those before them are multiplied: what fits in 192 KiB comes
/// from the second-level cache in time.
constexpr bool is_prefetched(std::int64_t depth, std::int64_t channels, std::int64_t weight_bytes) {
  return depth * channels * weight_bytes > 192 * 1024;
}

/// How many of `left` neighbouring whole panels the next tiles take: at most `maximum`; four as two and two, but for
/// matrices that are prefetched: only the widest tiles do that.
constexpr int panels_of_tile(int left, int maximum, bool prefetched) {
  return left < maximum ? left : left == 4 && maximum == max_tile_panels && !prefetched ? 2 : maximum;
}

/// Returns how many panels of a matrix from `index` on, whose column 0 is `first_channel` of the output, are 16 wide
/// and in output channels [begin, end); 0 or less where the first one is not.
inline int whole_panels(std::int64_t channels, int first_channel, int index, int begin, int end) {
  const int first = first_channel + index * panel_width, inside = (end - first) / panel_width;
  const int last = static_cast<int>(panel_count(channels)) - 1;
  const int left = last - index + (width_of_panel(channels, last) == panel_width ? 1 : 0);
  return begin > first ? 0 : inside < left ? inside : left;
}

namespace impl {

/// How many panels the tiles of `Kernels` take, and whether there are tiles that prefetch: they are as wide as tiles
/// can be.
template <class Kernels>
inline constexpr int panels_together = Kernels::panel_pairs ? tile_panels : 1;
template <class Kernels>
inline constexpr int pairs_together = Kernels::panel_pairs ? pair_panels : 1;  ///< pairs at most
template <class Kernels>
inline constexpr bool has_prefetch_tiles = Kernels::prefetch_weights&& panels_together<Kernels> == tile_panels;

/// Where vector v of neighbouring panels `stride` elements apart begins.
constexpr std::ptrdiff_t vector_offset(int v, std::ptrdiff_t stride) {
  constexpr int each = panel_width / simd::f32::lanes;
  return v / each * stride + v % each * simd::f32::lanes;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
