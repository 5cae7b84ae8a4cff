// SPDX-License-Identifier: MIT
#pragma once
/// Steps of operators on floats that take stored numbers too, in programs that run quantised models; and which weights
/// of stored integers such programs take.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <netsuke/format/step_view.hpp>

NSK_BEGIN
namespace impl {

/// Whether sessions of a settings type run quantised models.
template <class Settings>
inline constexpr bool has_int8_layers =
    Settings::ops::has(op::quantize) || Settings::ops::has(op::dequantize) || Settings::ops::has(op::byte_table) ||
    Settings::ops::has(op::quantized_conv_2d) || Settings::ops::has(op::quantized_depthwise_conv_2d) ||
    Settings::ops::has(op::quantized_binary) || Settings::ops::has(op::dynamic_quantize) ||
    Settings::ops::has(op::integer_conv_2d) || Settings::ops::has(op::quantized_mean);

/// Whether a verified step is a float operator's on bytes.
NSK_COLD inline bool is_float_operator_on_bytes(const step_view& s) {
  return (s.op() == op::pool_2d || s.op() == op::resize_2d) && s.input(0).type() == dtype::uint8;
}

/// Whether sessions of a settings type run such layers; types without the member do.
template <class Settings, class = void>
inline constexpr bool runs_unsafe_quads = true;
template <class Settings>
inline constexpr bool runs_unsafe_quads<Settings, std::void_t<decltype(Settings::unsafe_quads)>> =
    Settings::unsafe_quads;
template <class Settings, class = void>
inline constexpr bool runs_weight_offsets = true;
template <class Settings>
inline constexpr bool runs_weight_offsets<Settings, std::void_t<decltype(Settings::weight_offsets)>> =
    Settings::weight_offsets;

/// Whether a verified step is a layer of bytes whose weights are not pair-safe, or have an offset.
NSK_COLD NSK_NOINLINE inline bool has_unsafe_quads(const step_view& s) {
  return (s.op() == op::quantized_conv_2d || s.op() == op::quantized_depthwise_conv_2d ||
          s.op() == op::integer_conv_2d) &&
         s.input(1).arrangement() != packing::safe_quads;
}
NSK_COLD NSK_NOINLINE inline bool has_weight_offset(const step_view& s) {
  if (s.op() == op::quantized_conv_2d) return s.params<op::quantized_conv_2d>().weight_offset != 0;
  return s.op() == op::quantized_depthwise_conv_2d && s.params<op::quantized_depthwise_conv_2d>().weight_offset != 0;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
