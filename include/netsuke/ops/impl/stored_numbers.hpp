// SPDX-License-Identifier: MIT
#pragma once
/// Steps of operators on floats that take stored numbers too, in programs that run quantised models.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/step_view.hpp>

NSK_BEGIN
namespace impl {

/// Whether sessions of a settings type run quantised models.
template <class Settings>
inline constexpr bool stores_numbers =
    Settings::ops::has(op::quantize) || Settings::ops::has(op::dequantize) || Settings::ops::has(op::byte_table) ||
    Settings::ops::has(op::quantized_conv_2d) || Settings::ops::has(op::quantized_depthwise_conv_2d) ||
    Settings::ops::has(op::quantized_binary) || Settings::ops::has(op::dynamic_quantize) ||
    Settings::ops::has(op::integer_conv_2d) || Settings::ops::has(op::quantized_mean);

/// Whether a verified step is a float operator's on bytes.
NSK_COLD inline bool is_float_operator_on_bytes(const step_view& s) {
  return (s.op() == op::pool_2d || s.op() == op::resize_2d) && s.input(0).type() == dtype::uint8;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
