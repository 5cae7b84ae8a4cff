// SPDX-License-Identifier: MIT
#pragma once
/// Valid plans of one step on stored integers each.
#include "sample_plans.hpp"
#include <netsuke/kernels/int8/quantized_conv_2d.hpp>
#include <netsuke/kernels/int8/quantized_depthwise_conv_2d.hpp>
#include <netsuke/kernels/images/resize_2d.hpp>

namespace test::quantized {
using format::DataType;
using format::Operator;
using shape = std::vector<std::int32_t>;

/// One step of x and, where there are some, constant bytes.
inline plan_spec step_of(Operator op, const shape& x, DataType in, const shape& y, DataType out,
                         std::int64_t constant_bytes, DataType constant_type, format::Packing packing) {
  plan_spec p;
  const std::uint32_t input = p.add_input("x", x, 1, in);
  std::vector<std::uint32_t> inputs = {input};
  if (constant_bytes > 0) {
    inputs.push_back(
        p.add_constant("bytes", std::vector<std::uint8_t>(static_cast<std::size_t>(constant_bytes)), constant_type));
    p.tensors[inputs.back()].packing = packing;
  }
  p.add_step(op, inputs, p.add_output("y", y, 0, 1, out), "bytes");
  return p;
}
inline plan_spec quantize(DataType type = DataType::uint8, const shape& y = {3, 5}) {
  return step_of(Operator::Quantize, {3, 5}, DataType::float32, y, type, 0, type, format::Packing::plain);
}
inline plan_spec dequantize(DataType type = DataType::uint8, const shape& y = {3, 5}) {
  return step_of(Operator::Dequantize, {3, 5}, type, y, DataType::float32, 0, type, format::Packing::plain);
}
inline plan_spec table(std::int64_t entries = 256, DataType type = DataType::uint8) {
  return step_of(Operator::ByteTable, {3, 5}, DataType::int8, {3, 5}, DataType::uint8, entries, type,
                 format::Packing::plain);
}

inline constexpr nsk::window k_window{3, 3, 1, 1, 1, 1, 1, 1};
inline void set_window(step_spec& s, std::uint64_t scratch, plan_spec& p) {
  s.window = format::Window(3, 3, 1, 1, 1, 1, 1, 1);
  p.lane_bytes = s.scratch_bytes = scratch;
}
/// A 3x3 convolution of 2 groups of 6 channels to 2 of 20.
inline plan_spec convolution_of(Operator op, DataType result) {
  const std::int64_t bytes = 2 * nsk::quad_panel_bytes(20, nsk::kernels::quads_of_window(k_window, 6, false));
  plan_spec p =
      step_of(op, {1, 7, 8, 12}, DataType::uint8, {1, 7, 8, 40}, result, bytes, DataType::int8, format::Packing::quads);
  p.steps[0].groups = 2;
  set_window(p.steps[0], static_cast<std::uint64_t>(nsk::kernels::quantized_conv_2d_scratch_bytes(k_window, 6, 7, 8)),
             p);
  return p;
}
inline plan_spec convolution() { return convolution_of(Operator::QuantizedConv2D, DataType::uint8); }
/// A 3x3 convolution of one group of 12 channels to 40, by whole rows.
inline plan_spec convolution_of_rows_of(Operator op, DataType result) {
  const std::int64_t bytes = nsk::quad_panel_bytes(40, nsk::kernels::quads_of_window(k_window, 12, true));
  plan_spec p = step_of(op, {1, 7, 8, 12}, DataType::uint8, {1, 7, 8, 40}, result, bytes, DataType::int8,
                        format::Packing::safe_quads);
  p.steps[0].whole_rows = true;
  set_window(p.steps[0], static_cast<std::uint64_t>(nsk::kernels::quantized_conv_2d_scratch_bytes(k_window, 12, 7, 8)),
             p);
  return p;
}
inline plan_spec convolution_of_rows() { return convolution_of_rows_of(Operator::QuantizedConv2D, DataType::uint8); }
/// convolution_of_rows() with a residual.
inline plan_spec convolution_and_sum() {
  plan_spec p = convolution_of_rows();
  p.steps[0].inputs.push_back(p.add_input("r", {1, 7, 8, 40}, 1, DataType::uint8));
  p.steps[0].residual_scale = 0.5f;
  return p;
}
inline plan_spec depthwise_to(std::int32_t outputs) {
  plan_spec p =
      step_of(Operator::QuantizedDepthwiseConv2D, {1, 7, 8, 12}, DataType::uint8, {1, 7, 8, outputs}, DataType::uint8,
              nsk::quad_panel_bytes(12, nsk::depthwise_quads(3, 3)), DataType::int8, format::Packing::safe_quads);
  set_window(p.steps[0],
             static_cast<std::uint64_t>(nsk::kernels::quantized_depthwise_conv_2d_scratch_bytes(k_window, false)), p);
  return p;
}

inline plan_spec depthwise() { return depthwise_to(12); }

/// The scale and the zero point of floats; bytes by both.
inline plan_spec dynamic_range(const shape& y = {2}) {
  return step_of(Operator::DynamicRange, {3, 5}, DataType::float32, y, DataType::float32, 0, DataType::uint8,
                 format::Packing::plain);
}
inline plan_spec dynamic_quantize() {
  plan_spec p = step_of(Operator::DynamicQuantize, {3, 5}, DataType::float32, {3, 5}, DataType::uint8, 0,
                        DataType::uint8, format::Packing::plain);
  for (const char* name : {"scale", "zero"}) p.steps[0].inputs.push_back(p.add_input(name, {1}, 1));
  return p;
}
/// The sums of `convolution`, and real numbers of those of `convolution_of_rows`.
inline plan_spec sums() {
  plan_spec p = convolution_of(Operator::IntegerConv2D, DataType::int32);
  p.steps[0].inputs.push_back(p.add_input("zero", {1}, 1));
  return p;
}
inline plan_spec real_sums() {
  plan_spec p = convolution_of_rows_of(Operator::IntegerConv2D, DataType::float32);
  p.steps[0].real = true;
  for (const char* name : {"zero", "scale"}) p.steps[0].inputs.push_back(p.add_input(name, {1}, 1));
  p.steps[0].inputs.push_back(p.add_constant("bias", std::vector<float>(40)));
  return p;
}

inline plan_spec mean(const shape& x = {2, 7, 8, 12}, const shape& y = {2, 1, 1, 12}) {
  return step_of(Operator::QuantizedMean, x, DataType::uint8, y, DataType::uint8, 0, DataType::uint8,
                 format::Packing::plain);
}

/// Rows and columns of an image twice each.
inline plan_spec resizing(float weight = 1) {
  plan_spec p = step_of(Operator::Resize2D, {1, 2, 3, 12}, DataType::uint8, {1, 4, 6, 12}, DataType::uint8, 0,
                        DataType::uint8, format::Packing::plain);
  const std::vector<std::int32_t> rows = {0, 0, 1, 1}, columns = {0, 0, 1, 1, 2, 2};
  std::vector<std::uint32_t>& inputs = p.steps[0].inputs;
  inputs.push_back(p.add_constant("rows", rows, DataType::int32));
  inputs.push_back(p.add_constant("row weights", std::vector<float>(4, 1)));
  inputs.push_back(p.add_constant("columns", columns, DataType::int32));
  inputs.push_back(p.add_constant("column weights", std::vector<float>(6, weight)));
  p.lane_bytes = p.steps[0].scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::resize_2d_scratch_bytes(1));
  return p;
}

inline plan_spec pooling() {
  plan_spec p = step_of(Operator::Pool2D, {1, 7, 8, 12}, DataType::uint8, {1, 3, 4, 12}, DataType::uint8, 0,
                        DataType::uint8, format::Packing::plain);
  p.steps[0].window = format::Window(2, 2, 2, 2, 1, 1, 0, 0);
  p.steps[0].pool = format::PoolKind::max;
  return p;
}

}  // namespace test::quantized
