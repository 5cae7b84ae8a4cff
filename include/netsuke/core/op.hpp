// SPDX-License-Identifier: MIT
#pragma once
/// The operators that a step can have, and their parameters as plain structs. schema/netsuke.fbs documents what each
/// one computes; enumerators have the values of the file format and are append-only.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
enum class op : std::uint8_t {
  none,
  conv_2d,
  depthwise_conv_2d,
  fully_connected,
  pack_panels,
  mat_mul,
  pool_2d,
  unary,
  binary,
  copy,
  fill,
  resize_2d,
  reduce,
  softmax,
  cast,
  compare,
  select,
  arithmetic,
  gather,
  gather_elements,
  arg_reduce,
  top_k,
  non_max_suppression,
  layer_normalization,
  local_response_normalization,
  recurrent,
  random,
  tree_ensemble
};
inline constexpr int op_count = 28;

enum class function : std::uint8_t {
  identity,
  clip,
  leaky_relu,
  prelu,
  sigmoid,
  hard_sigmoid,
  hard_swish,
  silu,
  tanh,
  exp,
  log,
  sqrt,
  reciprocal,
  neg,
  abs,
  floor,
  ceil,
  round,
  erf,
  gelu,
  elu,
  softplus,
  square,
  sign,
  sin,
  cos
};
inline constexpr int function_count = 26;

/// A set of elementwise functions.
template <function... Functions>
struct function_list {
  static constexpr bool has(function f) { return ((f == Functions) || ...); }
};

/// Every elementwise function of this version.
using all_functions =
    function_list<function::identity, function::clip, function::leaky_relu, function::prelu, function::sigmoid,
                  function::hard_sigmoid, function::hard_swish, function::silu, function::tanh, function::exp,
                  function::log, function::sqrt, function::reciprocal, function::neg, function::abs, function::floor,
                  function::ceil, function::round, function::erf, function::gelu, function::elu, function::softplus,
                  function::square, function::sign, function::sin, function::cos>;

enum class conv_algorithm : std::uint8_t { direct, winograd4, winograd2 };
enum class pool_kind : std::uint8_t { max, average };
enum class binary_kind : std::uint8_t { add, sub, mul, div, min, max, pow, prelu };
enum class reduce_kind : std::uint8_t { mean, sum, max, min, prod, sum_square };
enum class compare_kind : std::uint8_t { equal, not_equal, less, less_equal };
enum class arithmetic_kind : std::uint8_t { add, sub, mul, div, mod, fmod, min, max, bit_and, bit_or, bit_xor };
enum class arg_reduce_kind : std::uint8_t { max, min };
enum class recurrent_kind : std::uint8_t { rnn, gru, lstm };
enum class recurrent_function : std::uint8_t {
  sigmoid,
  tanh,
  relu,
  affine,
  leaky_relu,
  thresholded_relu,
  scaled_tanh,
  hard_sigmoid,
  elu,
  softsign,
  softplus
};
enum class random_kind : std::uint8_t { uniform, normal, gumbel };
enum class tree_aggregate : std::uint8_t { sum, average, min, max };

/// Window of a convolution or pooling, in input pixels.
struct window {
  std::int32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_top = 0,
               pad_left = 0;
};

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
NSK_END
#include <netsuke/core/restore_macros.hpp>
