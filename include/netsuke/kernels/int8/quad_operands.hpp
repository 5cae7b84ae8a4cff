// SPDX-License-Identifier: MIT
#pragma once
/// What products of bytes and panels of int8 weights read and write (kernels/int8/quantized_gemm.hpp).
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/format/packing.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Where the quads of one row are: `lines` x `columns` runs of `quads` contiguous quads, whose starts are `line_stride`
/// and `column_stride` bytes apart. The last quad of a run may reach past it, to bytes whose weights are zeros.
struct quad_runs {
  int lines = 1, columns = 1, quads;
  std::ptrdiff_t line_stride = 0, column_stride = 0;
};

/// One row: its first input, and output and residual of channel 0.
struct quad_row {
  const std::uint8_t* input;
  std::uint8_t* output;
  const std::uint8_t* residual;  ///< read only where quad_store::residual_scale is not 0
  std::int32_t added;            ///< to all sums; read only where quad_store::adds_to_rows
};

/// How rows are stored.
struct quad_store {
  simd::u8_range range;
  float residual_scale = 0;  ///< 0: there is no residual
  std::int32_t residual_zero = 0;
  bool adds_to_rows = false;
  bool sums = false;  ///< rows get their sums, as int32 in whole registers, in the place of bytes
};

/// How the products of a quad are added (simd/vec.hpp). All give the same sums, where they may be used.
enum class quad_products : std::uint8_t {
  exact,   ///< any weights
  safe,    ///< no pair of weights of any quad saturates
  at_once  ///< any weights, where the machine has_native_dot4()
};
/// Returns the fastest for weights that are safe or not, on a machine that simd::has_native_dot4() or not.
constexpr quad_products fastest_products(bool safe, bool native_dot4) {
  return native_dot4 ? quad_products::at_once : safe ? quad_products::safe : quad_products::exact;
}

/// The kinds of weights that a program has code for.
template <bool Unsafe = true, bool Offsets = true>
struct quad_support {
  static constexpr bool unsafe = Unsafe, offsets = Offsets;
};

/// A packed matrix of `channels` columns from `data` on; column 0 is channel `first_channel` of the output.
struct quad_weights {
  const std::byte* data;
  std::int64_t channels, quads;
  int first_channel;
  quad_products products;
};

namespace impl {

/// One panel, or some of its columns.
struct quad_panel {
  const std::byte* bias;   ///< of the first column; int32
  const std::byte* scale;  ///< float32
  const std::int8_t* weights;
  int width, channel, columns;
  std::ptrdiff_t stride;  ///< bytes from one panel to the next
};

/// Where vector `v` of a panel begins, in bytes behind what the first begins with, or of the panels behind it.
NSK_INLINE std::ptrdiff_t vector_place(const quad_panel& p, int v) {
  constexpr int vectors = (panel_width + simd::i32::lanes - 1) / simd::i32::lanes;
  return v / vectors * p.stride + v % vectors * 4 * simd::i32::lanes;
}
NSK_INLINE simd::f32 load_scale(const quad_panel& p, int v) {
  return simd::load(reinterpret_cast<const float*>(p.scale + vector_place(p, v)));
}

}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
