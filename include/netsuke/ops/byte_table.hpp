// SPDX-License-Identifier: MIT
#pragma once
/// Functions of one byte, the same for all or one for each channel.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/int8/byte_table.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::byte_table> : impl::in_place_of<1>,
                                   impl::nothing_whole,
                                   impl::rows_of_inputs<1>,
                                   impl::without_scratch,
                                   impl::one_tap,
                                   impl::one_path {
  using params = byte_table_params;
  using args = kernels::byte_table_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::bytes(), operand::bytes().of_output_shape(), operand::checked_by_rules()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader& reader, const step_view& s, const params&) {
    const tensor_info table = s.input(1);
    const bool fits = table.elements() == 256 || table.elements() == std::int64_t{256} * impl::last_length(s.output());
    return reader.line<std::uint8_t>(table) && fits ? status_code::ok : status_code::bad_weights;
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params&) {
    return {m.view(s.input(0)), m.view(s.output()), m.constant<std::uint8_t>(s.input(1)), s.input(1).elements() != 256};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::byte_table(a, range, scratch);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
