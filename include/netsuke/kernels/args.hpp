// SPDX-License-Identifier: MIT
#pragma once
/// What a kernel is given: the operator's parameters (format/params.hpp), views, and nothing of the model. One struct
/// per operator; its file in ops/ fills it from the file, tests fill it by hand. It stands in the kernel's header, or
/// here where parts of the kernel in impl/ need it too.
///
/// Every kernel has the form `void kernel(const kernel_args&, const tile_range&, std::byte* scratch)` and computes
/// exactly the output elements of the range, plus the border pixels next to them (border_of in kernels/border.hpp).
/// Contracts common to all:
/// - strides and shapes were verified: nothing here is checked again, except data (indices in tensors);
/// - types, numbers of dimensions, and where elements are neighbours are what the operator's file in ops/ says in its
/// table of operands; other strides are any. Inputs may be read up to `over_read` bytes past their end;
/// - an output may be an input or the residual only where each element is read before it is written by the same tile;
/// - tiles write disjoint elements, in any order and from any thread, with the same bits;
/// - `scratch` is 64-byte aligned and has at least the bytes that `*_scratch_bytes` in format/scratch.hpp returns.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/random.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/params.hpp>
#include <netsuke/kernels/path.hpp>

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
/// zeros: taken from the border where the input has a wide enough one with fill 0, else gathered. Weights are of the
/// type that the kernel is told.
struct conv_2d_args : conv_2d_params {
  tensor_view input, output;
  const void* weights;
  epilogue e;
};

/// Depthwise convolution: output channel c from input channel c. Weights: panels of C with depth kernel_h * kernel_w,
/// of the type that the kernel is told.
struct depthwise_conv_2d_args : depthwise_conv_2d_params {
  tensor_view input, output;
  const void* weights;
  epilogue e;
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

/// The recurrence of a layer over time: kernels/dense/recurrent.hpp. Last dimensions have stride 1.
struct recurrent_args : recurrent_params {
  tensor_view input;      ///< [B, T, D, gates * H]: products of the layer's inputs, and biases
  tensor_view initial_h;  ///< [B, D, H]
  tensor_view initial_c;  ///< [B, D, H], lstm only
  tensor_view lengths;    ///< int32 [B]; null data where every row has T time steps
  tensor_view output;     ///< [B, T + final rows, D, H]
  const void* weights;    ///< recurrent_weight_elements per direction, of the type that the kernel is told
  const float* peephole;  ///< [D, 3, H]: input, output, forget; null where there is none
  std::uint32_t* flags;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
