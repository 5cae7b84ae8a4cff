// SPDX-License-Identifier: MIT
#pragma once
/// Determinants and inverses of small square matrices.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/dense/matrix_function.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::matrix_function> : impl::never_in_place, impl::any_tiles, impl::rows_of_images, impl::one_path {
  using params = matrix_function_params;
  using args = kernels::matrix_function_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand matrices = operand::floats().with_rank(3);
    return {matrices, matrices};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader&, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    const std::int32_t n = x.shape()[1], side = p.kind == matrix_kind::determinant ? 1 : n;
    return impl::accepted(is_known(p.kind) && n <= kernels::max_matrix_side && x.shape()[2] == n &&
                          y.shape()[0] == x.shape()[0] && y.shape()[1] == side && y.shape()[2] == side);
  }
  static constexpr impl::whole_axes whole(const params&, int) { return {false, true, true}; }
  template <class Tensor>
  static std::int64_t scratch_bytes(const params&, const Tensor& x, const Tensor&) {
    return kernels::matrix_function_scratch_bytes(x.shape()[2]);
  }
  static std::uint64_t taps(const step_view& s, const params&) {
    return static_cast<std::uint64_t>(impl::last_length(s.input(0)));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::matrix_function(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
