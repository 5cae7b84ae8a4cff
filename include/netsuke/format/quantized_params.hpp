// SPDX-License-Identifier: MIT
#pragma once
/// The parameters of operators on stored integers, in the form that params.hpp describes.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/window.hpp>

NSK_BEGIN
struct quantize_params {
  float scale = 1;
  std::int32_t zero = 0, low = 0, high = 255;
  template <class Table>
  static quantize_params of(const Table& t) {
    return {t.scale(), t.zero(), t.low(), t.high()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(scale, zero, low, high);
  }
};
struct dequantize_params {
  float scale = 1;
  std::int32_t zero = 0;
  template <class Table>
  static dequantize_params of(const Table& t) {
    return {t.scale(), t.zero()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(scale, zero);
  }
};
struct byte_table_params {};
struct quantized_conv_2d_params {
  window w{};
  std::int32_t groups = 1;
  bool whole_rows = false;      ///< quads follow the rows of a window, else its pixels
  std::int32_t input_zero = 0;  ///< what stands for 0 in the input
  std::int32_t zero = 0, low = 0, high = 255;
  float residual_scale = 0;  ///< 0: nothing is added
  std::int32_t residual_zero = 0;
  std::int32_t weight_offset = 0;  ///< weights are so much larger than the file's
  template <class Table>
  static quantized_conv_2d_params of(const Table& t) {
    quantized_conv_2d_params p;
    p.w = window::of(t.window());
    p.groups = static_cast<std::int32_t>(t.groups());
    p.whole_rows = t.whole_rows();
    p.input_zero = t.input_zero();
    p.zero = t.zero();
    p.low = t.low();
    p.high = t.high();
    p.residual_scale = t.residual_scale();
    p.residual_zero = t.residual_zero();
    p.weight_offset = t.weight_offset();
    return p;
  }
};
struct quantized_depthwise_conv_2d_params {
  window w{};
  std::int32_t input_zero = 0;
  std::int32_t zero = 0, low = 0, high = 255;
  std::int32_t weight_offset = 0;  ///< weights are so much larger than the file's
  template <class Table>
  static quantized_depthwise_conv_2d_params of(const Table& t) {
    return {window::of(t.window()), t.input_zero(), t.zero(), t.low(), t.high(), t.weight_offset()};
  }
};
struct quantized_binary_params {
  binary_kind kind = binary_kind::add;  ///< add, sub or mul
  float a_scale = 1, b_scale = 1, scale = 1;
  std::int32_t a_zero = 0, b_zero = 0, zero = 0, low = 0, high = 255;
  std::int32_t a_multiplier = 0, b_multiplier = 0, bias = 0, shift = 0;  ///< shift > 0: a sum in fixed point
  template <class Table>
  static quantized_binary_params of(const Table& t) {
    quantized_binary_params p;
    p.kind = static_cast<binary_kind>(t.kind());
    p.a_scale = t.a_scale();
    p.b_scale = t.b_scale();
    p.scale = t.scale();
    p.a_zero = t.a_zero();
    p.b_zero = t.b_zero();
    p.zero = t.zero();
    p.low = t.low();
    p.high = t.high();
    p.a_multiplier = t.a_multiplier();
    p.b_multiplier = t.b_multiplier();
    p.bias = t.bias();
    p.shift = t.shift();
    return p;
  }
  template <class Create>
  auto to(Create create) const {
    return create(kind, a_scale, b_scale, scale, a_zero, b_zero, zero, low, high, a_multiplier, b_multiplier, bias,
                  shift);
  }
};
struct dynamic_range_params {};
struct dynamic_quantize_params {};
struct integer_conv_2d_params {
  window w{};
  std::int32_t groups = 1;
  bool whole_rows = false;  ///< quads follow the rows of a window, else its pixels
  bool real = false;        ///< sums become real numbers
  template <class Table>
  static integer_conv_2d_params of(const Table& t) {
    return {window::of(t.window()), static_cast<std::int32_t>(t.groups()), t.whole_rows(), t.real()};
  }
};
struct quantized_mean_params {
  float scale = 1;              ///< of the result, in units of the input's
  std::int32_t input_zero = 0;  ///< what stands for 0 in the input
  std::int32_t zero = 0, low = 0, high = 255;
  template <class Table>
  static quantized_mean_params of(const Table& t) {
    return {t.scale(), t.input_zero(), t.zero(), t.low(), t.high()};
  }
  template <class Create>
  auto to(Create create) const {
    return create(scale, input_zero, zero, low, high);
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
