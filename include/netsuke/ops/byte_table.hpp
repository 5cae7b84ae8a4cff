// SPDX-License-Identifier: MIT
#pragma once
/// Functions of one byte, the same for all or one for each channel.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/byte_table.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::byte_table> : impl::inputs<2>,
                                   impl::in_place_of<1>,
                                   impl::without_border,
                                   impl::nothing_whole,
                                   impl::rows_of_inputs<1>,
                                   impl::without_scratch,
                                   impl::one_tap {
  using params = byte_table_params;
  using args = kernels::byte_table_args;

  NSK_COLD static status_code check_rules(impl::constant_reader& reader, const step_view& s, const params&) {
    const tensor_info x = s.input(0), y = s.output(), table = s.input(1);
    if (!impl::is_bytes(x) || !impl::is_bytes(y) || !impl::same_shape(x, y)) return status_code::bad_step;
    const bool fits = table.elements() == 256 || table.elements() == std::int64_t{256} * impl::last_length(y);
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
