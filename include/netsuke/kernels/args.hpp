// SPDX-License-Identifier: MIT
#pragma once
/// What a kernel is given: the operator's parameters (format/params.hpp), views, and nothing of the model. One struct
/// per operator; its room in ops/ fills it from the file, tests fill it by hand.
///
/// Every kernel has the form `void kernel(const kernel_args&, const tile_range&, std::byte* scratch)` and computes
/// exactly the output elements of the range, plus the border pixels next to them (border_of in kernels/border.hpp).
/// Contracts common to all:
/// - strides and shapes were verified: nothing here is checked again, except data (indices in tensors);
/// - the last dimension of image tensors has stride 1, all others any; inputs may be read up to `over_read` bytes past
/// their end;
/// - an output may be an input or the residual only where each element is read before it is written by the same tile;
/// - tiles write disjoint elements, in any order and from any thread, with the same bits;
/// - `scratch` is 64-byte aligned and has at least the bytes that `*_scratch_bytes` in format/scratch.hpp returns.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/random.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/params.hpp>

NSK_BEGIN
/// y = f(x + residual), or with activation_first y = f(x) + residual. `residual` has the output's shape and rank, its
/// own strides, and may be the output itself; null data means none. `slope` (prelu) has one float per output channel.
struct epilogue {
  function fn = function::identity;
  bool activation_first = false;
  float alpha = 0, beta = 0;
  const float* slope = nullptr;
  const float* residual = nullptr;         ///< element at index 0 of the residual tensor
  std::ptrdiff_t residual_stride[6] = {};  ///< elements, same dimensions as the output
};

namespace kernels {

/// 2-D convolution of [N, H, W, C] by packed weights (format/packing.hpp: panels of depth kernel_h * kernel_w * C /
/// groups with k = (kernel row, kernel column, input channel), one set of panels per group). Input pixels outside are
/// zeros: taken from the border where the input has a wide enough one with fill 0, else gathered.
struct conv_2d_args : conv_2d_params {
  tensor_view input, output;
  const float* weights;
  epilogue e;
};

/// Depthwise convolution: output channel c from input channel c. Weights: panels of C with depth kernel_h * kernel_w.
struct depthwise_conv_2d_args : depthwise_conv_2d_params {
  tensor_view input, output;
  const float* weights;
  epilogue e;
};

/// output[..., n] = sum over k of input[..., k] * weights[k][n] + bias[n]. Rows are all leading dimensions of the
/// output.
struct fully_connected_args {
  tensor_view input, output;
  const float* weights;
  epilogue e;
};

/// Writes input [B, K, N] (any strides) as panels with zero bias, matrix after matrix. `output` is [B, panel_floats(N,
/// K)]. Tile space: pixels = B is dimension 0 of output seen as [1, B, floats]; a tile packs whole matrices.
struct pack_panels_args {
  tensor_view input, output;
};

/// output[b] = a[b] * right[b], right packed by pack_panels; with shared_right one matrix for every b.
/// a [B, M, K] with stride 1 in K; output [B, M, N].
struct mat_mul_args : mat_mul_params {
  tensor_view input, output;
  const float* panels;
  epilogue e;
};

/// Maximum or average over a window. Taps outside the input are skipped; the average divides by the taps inside, or
/// with count_include_pad by the taps inside the input padded by w.pad_top, w.pad_left, pad_bottom, pad_right.
struct pool_2d_args : pool_2d_params {
  tensor_view input, output;
};

/// output = f(input): e.fn with its parameters; shapes equal, any strides. float32.
struct unary_args {
  tensor_view input, output;
  epilogue e;
};

/// output = f(a op b), all of one shape; broadcasting is stride 0. float32.
struct binary_args : binary_params {
  tensor_view a, b, output;
  epilogue e;
};

/// output = input, same shape, any strides (negative and 0 too on the input), any element type.
struct copy_args {
  tensor_view input, output;
};

/// output = value everywhere, converted to the output's type.
struct fill_args : fill_params {
  tensor_view output;
};

/// Separable resampling of [N, H, W, C]; tables as in schema/netsuke.fbs. Row order of operations: for each row tap the
/// weighted sum of column taps in ascending order (first tap a product, the others fused), then rows likewise.
struct resize_2d_args : resize_2d_params {
  tensor_view input, output;
  const std::int32_t* row_index;
  const float* row_weight;
  const std::int32_t* column_index;
  const float* column_weight;
};

/// Reduction over the axes in which the output's length is 1 and the input's is not. Equal rank.
struct reduce_args : reduce_params {
  tensor_view input, output;
  epilogue e;
};

/// exp(x - max) / sum, or its logarithm, along dimension `axis`. A tile holds whole lines along the axis.
struct softmax_args : softmax_params {
  tensor_view input, output;
};

/// output = input, converted to the output's type.
struct cast_args {
  tensor_view input, output;
};

/// output (boolean) = a kind b; a and b of one type.
struct compare_args : compare_params {
  tensor_view a, b, output;
};

/// output = condition (boolean) ? a : b.
struct select_args {
  tensor_view condition, a, b, output;
};

/// output = a kind b for int32, int64 and boolean.
struct arithmetic_args : arithmetic_params {
  tensor_view a, b, output;
  std::uint32_t* flags;
};

/// output[.., i, ..] = data[.., indices[i], ..] along `axis`.
struct gather_args : gather_params {
  tensor_view data, indices, output;
  std::uint32_t* flags;
};
/// output[p] = data[p with indices[p] along axis].
struct gather_elements_args : gather_args {};

/// Position of the best element along `axis`; the last one of equal ones where `last` is set.
struct arg_reduce_args : arg_reduce_params {
  tensor_view input, output;
};

/// Positions of the best elements along `axis`.
struct top_k_args : top_k_params {
  tensor_view input, output;
};

/// Boxes that are kept: kernels/non_max_suppression.hpp.
struct non_max_suppression_args : non_max_suppression_params {
  tensor_view boxes, scores, output;
  std::uint32_t* flags;
};

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias along the last dimension.
struct layer_normalization_args : layer_normalization_params {
  tensor_view input, output;
  const float *scale, *bias;  ///< one per element of the last dimension
};

/// y = x / (bias + alpha / size * sum of squares of `size` neighbours in the last dimension)^beta.
struct local_response_normalization_args : local_response_normalization_params {
  tensor_view input, output;
};

/// The recurrence of a layer over time: kernels/recurrent.hpp. Last dimensions have stride 1.
struct recurrent_args : recurrent_params {
  tensor_view input;      ///< [B, T, D, gates * H]: products of the layer's inputs, and biases
  tensor_view initial_h;  ///< [B, D, H]
  tensor_view initial_c;  ///< [B, D, H], lstm only
  tensor_view lengths;    ///< int32 [B]; null data where every row has T instants
  tensor_view output;     ///< [B, T + final rows, D, H]
  const float* weights;   ///< recurrent_weight_floats per direction
  const float* peephole;  ///< [D, 3, H]: input, output, forget; null where there is none
  std::uint32_t* flags;
};

/// output = offset + scale * z, z random: kernels/random.hpp. Rows are indices of dimension 0; float32.
struct random_args : random_params {
  tensor_view output;
  random_source source;
};

/// Decision trees: kernels/tree_ensemble.hpp. x [rows, features], output [rows, targets].
struct tree_ensemble_args : tree_ensemble_params {
  tensor_view input, output;
  const std::int32_t *roots, *nodes;
  const float* thresholds;
  const std::int32_t* targets;
  const float *weights, *base;
  std::int32_t trees;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
