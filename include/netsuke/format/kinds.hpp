// SPDX-License-Identifier: MIT
#pragma once
/// The choices that parameters of operators make. Values are part of the file format.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/op.hpp>

NSK_BEGIN
enum class conv_algorithm : std::uint8_t { direct, winograd4, winograd2 };
enum class pool_kind : std::uint8_t { max, average };
enum class binary_kind : std::uint8_t { add, sub, mul, div, min, max, pow, prelu, atan2, mod, fmod };
enum class reduce_kind : std::uint8_t { mean, sum, max, min, prod, sum_square };
enum class compare_kind : std::uint8_t { equal, not_equal, less, less_equal };
enum class scatter_kind : std::uint8_t { replace, add, mul, max, min };
enum class arithmetic_kind : std::uint8_t { add, sub, mul, div, mod, fmod, min, max, bit_and, bit_or, bit_xor, pow };
enum class arg_reduce_kind : std::uint8_t { max, min };
enum class matrix_kind : std::uint8_t { determinant, inverse };
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

/// Sets of kinds that kernels have code for.
template <pool_kind... Kinds>
using pool_list = impl::set_of<pool_kind, Kinds...>;
template <reduce_kind... Kinds>
using reduce_list = impl::set_of<reduce_kind, Kinds...>;
using all_pool_kinds = pool_list<pool_kind::max, pool_kind::average>;
using all_reduce_kinds = reduce_list<reduce_kind::mean, reduce_kind::sum, reduce_kind::max, reduce_kind::min,
                                     reduce_kind::prod, reduce_kind::sum_square>;
/// Whether kernels of a list have a reduction: sums and means are one.
template <class Kinds>
constexpr bool has_reduction(reduce_kind k) {
  const bool sums = k == reduce_kind::mean || k == reduce_kind::sum;
  return sums ? Kinds::has(reduce_kind::mean) || Kinds::has(reduce_kind::sum) : Kinds::has(k);
}

/// Whether a number that a file holds is one of the enumerators.
constexpr bool is_known(conv_algorithm a) { return a <= conv_algorithm::winograd2; }
constexpr bool is_known(pool_kind k) { return k <= pool_kind::average; }
constexpr bool is_known(binary_kind k) { return k <= binary_kind::fmod; }
constexpr bool is_known(reduce_kind k) { return k <= reduce_kind::sum_square; }
constexpr bool is_known(compare_kind k) { return k <= compare_kind::less_equal; }
constexpr bool is_known(scatter_kind k) { return k <= scatter_kind::min; }
constexpr bool is_known(arithmetic_kind k) { return k <= arithmetic_kind::pow; }
constexpr bool is_known(arg_reduce_kind k) { return k <= arg_reduce_kind::min; }
constexpr bool is_known(matrix_kind k) { return k <= matrix_kind::inverse; }
constexpr bool is_known(recurrent_kind k) { return k <= recurrent_kind::lstm; }
constexpr bool is_known(recurrent_function f) { return f <= recurrent_function::softplus; }
constexpr bool is_known(random_kind k) { return k <= random_kind::gumbel; }
constexpr bool is_known(tree_aggregate a) { return a <= tree_aggregate::max; }
constexpr bool is_known(function f) { return static_cast<int>(f) < function_count; }
NSK_END
#include <netsuke/core/restore_macros.hpp>
