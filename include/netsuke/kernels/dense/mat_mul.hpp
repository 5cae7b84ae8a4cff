// SPDX-License-Identifier: MIT
#pragma once
/// Products of matrices that are both computed at run time; the right one was packed by pack_panels.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/dense/fully_connected.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output[b] = a[b] * right[b], right packed by pack_panels; with shared_right one matrix for every b.
/// a [B, M, K] with stride 1 in K; output [B, M, N].
struct mat_mul_args : mat_mul_params {
  tensor_view input, output;
  const float* panels;
  epilogue e;
};

/// Computes one tile of output[b] = input[b] * right[b]: rows of the tile are matrices b, pixels their rows. Strides of
/// the last dimension of input and output are 1.
template <class Kernels = all_kernels>
inline void mat_mul(const mat_mul_args& a, const tile_range& t, std::byte*) {
  const int depth = a.input.shape[a.input.rank - 1], channels = a.output.shape[a.output.rank - 1];
  for (int b = t.row_begin; b < t.row_end; ++b) {
    const float* panels = a.panels + (a.shared_right ? 0 : b * panel_floats(channels, depth));
    const gemm_weights<float> w{panels, channels, depth, 0};
    impl::multiply_rows<Kernels>(a.input, a.output, a.e, w,
                                 {b, b + 1, t.pixel_begin, t.pixel_end, t.channel_begin, t.channel_end});
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
