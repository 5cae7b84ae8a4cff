// SPDX-License-Identifier: MIT
#pragma once
/// Rows of any tensor times one packed matrix.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/product/gemm.hpp>
#include <netsuke/kernels/conv/paths/few_outputs.hpp>
#include <netsuke/kernels/output_rows.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output[..., n] = sum over k of input[..., k] * weights[k][n] + bias[n]. Rows are all leading dimensions of the
/// output. `weights` are panels, of the type that the kernel is told.
struct fully_connected_args {
  tensor_view input, output;
  const void* weights;
  epilogue e;
};

/// A fully connected layer as its paths see it: `pixels` rows share a line of the output.
struct dense_layer {
  int depth, outputs, pixels;
  bool float32 = true;
};
/// Returns its path on an instruction set: that of a convolution of one tap, of lines that fill two registers.
constexpr fast_path path_of(const dense_layer& l, const vector_registers& r) {
  const bool few = impl::suits_few_outputs({window{}, 1, l.depth, l.outputs, true, l.float32}, r);
  return few && l.pixels >= 2 * r.lanes ? fast_path::few_outputs : fast_path::general;
}

namespace impl {

/// Multiplies the tile's rows and pixels of `input` (shaped as the output but for the last dimension) by the tile's
/// columns of one packed matrix.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void multiply_columns(const tensor_view& input, const tensor_view& output, const epilogue& epi,
                                          const gemm_weights<Weight>& w, const tile_range& t) {
  const int pixels = t.pixel_end - t.pixel_begin,
            block = gemm_block_rows(w.depth, std::int64_t{t.row_end - t.row_begin} * pixels);
  const gemm_job<Kernels, Weight> job{{1, 1, static_cast<int>(w.depth)}, w, t.channel_begin, t.channel_end, block,
                                      prepare<Kernels>(epi, output.rank)};
  gemm_row_list list;
  for (int row = t.row_begin; row < t.row_end; ++row) {
    const float* add = epi.residual == nullptr ? nullptr : epi.residual + row_offset(output, epi.residual_stride, row);
    const gemm_line line{input.as<float>() + row_offset(output, input.stride, row),
                         pixel_stride(input, input.stride),
                         output.as<float>() + row_offset(output, row),
                         pixel_stride(output, output.stride),
                         add,
                         pixel_stride(output, epi.residual_stride)};
    gemm_push(job, list, line.from(t.pixel_begin), pixels);
  }
  gemm_flush(job, list);
}

/// multiply_columns() by multiply_matrix(), which widens float16 weights where that serves several rows.
template <class Kernels, class Weight>
NSK_ONE_COPY inline void multiply_rows(const tensor_view& input, const tensor_view& output, const epilogue& epi,
                                       const gemm_weights<Weight>& w, const tile_range& t) {
  const std::int64_t rows = std::int64_t{t.row_end - t.row_begin} * (t.pixel_end - t.pixel_begin);
  multiply_matrix(w, rows, t.channel_begin, t.channel_end,
                  [&](const auto& matrix, int begin, int end) NSK_INLINE_LAMBDA {
                    multiply_columns<Kernels>(input, output, epi, matrix,
                                              {t.row_begin, t.row_end, t.pixel_begin, t.pixel_end, begin, end});
                  });
}

/// The tile of a layer with few outputs: a convolution of one tap, each row an image of one line.
template <class Kernels>
NSK_ONE_COPY inline void multiply_to_few(const fully_connected_args& a, const tile_range& t) {
  const int depth = a.input.length(0), outputs = a.output.length(0), pixels = a.output.length(1);
  const auto line = [&](const tensor_view& v, int row, int channels) {
    tensor_view l;
    l.data = reinterpret_cast<std::byte*>(v.as<float>() + row_offset(v, v.stride, row));
    l.rank = 4;
    l.shape[0] = l.shape[1] = 1;
    l.shape[2] = pixels;
    l.shape[3] = channels;
    l.stride[2] = v.stride_of(1);
    l.stride[3] = 1;
    return l;
  };
  Kernels::took(fast_path::few_outputs);
  conv_2d_args c{{window{}, 1, conv_algorithm::direct}, {}, {}, a.weights, a.e};
  for (int row = t.row_begin; row < t.row_end; ++row) {
    c.input = line(a.input, row, depth);
    c.output = line(a.output, row, outputs);
    if (a.e.residual != nullptr) {
      c.e.residual = a.e.residual + row_offset(a.output, a.e.residual_stride, row);
      c.e.residual_stride[2] = a.e.residual_stride[a.output.rank - 2];
      c.e.residual_stride[3] = a.e.residual_stride[a.output.rank - 1];
    }
    convolve_few_outputs(pixel_conv<Kernels>(c), 0, {0, 1, t.pixel_begin, t.pixel_end});
  }
}

}

/// Computes one tile of a fully connected layer. Strides of the last dimension of input and output are 1.
template <class Kernels = all_kernels, class Weight = float>
inline void fully_connected(const fully_connected_args& a, const tile_range& t, std::byte*) {
  const int depth = a.input.shape[a.input.rank - 1], channels = a.output.shape[a.output.rank - 1];
  const gemm_weights<Weight> w{static_cast<const Weight*>(a.weights), channels, depth, 0};
  if constexpr (std::is_same<Weight, float>::value && Kernels::has(fast_path::few_outputs))
    if (path_of(dense_layer{depth, channels, a.output.rank > 1 ? a.output.length(1) : 1}, own_registers) ==
        fast_path::few_outputs) {
      impl::multiply_to_few<Kernels>(a, t);
      return fill_border(a.output, t);
    }
  Kernels::took(fast_path::general);
  impl::multiply_rows<Kernels>(a.input, a.output, a.e, w, t);
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
