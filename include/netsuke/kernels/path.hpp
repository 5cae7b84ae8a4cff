// SPDX-License-Identifier: MIT
#pragma once
/// Fast paths, and what kernels a program has. A fast path is a way to compute a step that the general one could
/// compute too, with the same bits. Which one a step takes is said by op_traits<op>::path(step) and by nothing else.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/op.hpp>
#include <netsuke/simd/vec.hpp>

/// X(name) for each fast path, its enumerator:
/// - square_3, square_5: depthwise convolution by a square window without dilation and without a stride along rows
///   (depthwise/paths/square.hpp)
/// - wide_window: depthwise convolution by a window of 7 pixels along rows or more (depthwise/paths/wide_window.hpp)
/// - small_groups: convolution with 2, 4 or 8 channels to a group (conv/paths/small_groups.hpp)
/// - few_outputs: convolution, and rows of a dense layer, to 1 to 4 channels (conv/paths/few_outputs.hpp)
#define NSK_FAST_PATH_LIST(X) \
  X(square_3)                 \
  X(square_5)                 \
  X(wide_window)              \
  X(small_groups)             \
  X(few_outputs)

NSK_BEGIN
/// How a step is computed; `general` is the way that computes every step of its operator.
enum class fast_path : std::uint8_t {
#define NSK_ENUMERATOR(name) name,
  NSK_FAST_PATH_LIST(NSK_ENUMERATOR)
#undef NSK_ENUMERATOR
      general
};
inline constexpr int fast_path_count = static_cast<int>(fast_path::general);

/// A set of fast paths.
template <fast_path... Paths>
using path_list = impl::set_of<fast_path, Paths...>;
using all_paths = enum_set<fast_path, (std::uint64_t{1} << fast_path_count) - 1>;

/// The vector registers of an instruction set: floats in each, and their number. Some paths depend on them.
struct vector_registers {
  int lanes, count;
};

namespace kernels {

/// Those of the instruction set that this is compiled for.
inline constexpr vector_registers own_registers{simd::f32::lanes, simd::f32::registers};

/// What kernels have code for: functions of epilogues and fast paths, a bit for each enumerator; tiles of several
/// panels, and tiles that prefetch weights (product/panels_of_tile.hpp). Everything else runs the general way.
template <std::uint64_t Functions, unsigned Paths, bool PanelPairs, bool PrefetchWeights>
struct kernel_set {
  static constexpr std::uint64_t functions = Functions;
  static constexpr bool panel_pairs = PanelPairs, prefetch_weights = PrefetchWeights;
  using without_functions = kernel_set<0, Paths, PanelPairs, PrefetchWeights>;

  static constexpr bool has(function f) { return (Functions >> static_cast<int>(f) & 1u) != 0; }
  static constexpr bool has(fast_path p) { return (Paths >> static_cast<int>(p) & 1u) != 0; }
  /// Called where a tile takes a path; a test derives from the set and sees which.
  static constexpr void took(fast_path) {}
};

/// The kernels for lists of functions and of paths. identity has no code: lists with and without it are one set.
template <class Functions, class Paths = all_paths, bool PanelPairs = true, bool PrefetchWeights = true>
using kernels_for = kernel_set<Functions::bits & ~(std::uint64_t{1} << static_cast<int>(function::identity)),
                               static_cast<unsigned>(Paths::bits), PanelPairs, PrefetchWeights>;
using all_kernels = kernels_for<all_functions>;

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
