// SPDX-License-Identifier: MIT
#pragma once
/// Valid plans to mutate: every operator of the engine is in one of them.
#include <vector>
#include "../model/lengths_plan.hpp"
#include "../model/quantized_plan.hpp"
#include "../model/recurrent_plan.hpp"
#include "../model/scatter_plan.hpp"
#include "../model/tree_ensemble_plan.hpp"
#include "plausible.hpp"

namespace fuzz {

/// A network whose dense layer has weights of 8 bits.
inline test::plan_spec with_narrow_weights() {
  test::cnn_sample s = test::make_cnn();
  const std::int64_t bytes = nsk::panel_elements<std::int8_t>(10, 40);
  const std::uint32_t t = s.plan.add_constant("bytes", std::vector<std::int8_t>(static_cast<std::size_t>(bytes), 1),
                                              nsk::format::DataType::int8);
  s.plan.tensors[t].packing = nsk::format::Packing::panels;
  s.plan.steps[test::cnn_sample::dense_step].inputs[1] = t;
  return s.plan;
}

/// Determinants, inverses and products of integers.
inline test::plan_spec matrices() {
  using nsk::format::DataType;
  using nsk::format::Operator;
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {3, 4, 4}, 3), a = p.add_input("a", {2, 5, 6}, 3, DataType::int32),
                      b = p.add_input("b", {2, 6, 3}, 3, DataType::int32);
  p.lane_bytes = 2 * 16 * 16 * 64;
  for (const auto kind : {nsk::format::MatrixKind::determinant, nsk::format::MatrixKind::inverse}) {
    const bool whole = kind == nsk::format::MatrixKind::inverse;
    const std::uint32_t y =
        p.add_output(whole ? "inverse" : "determinant",
                     whole ? std::vector<std::int32_t>{3, 4, 4} : std::vector<std::int32_t>{3, 1, 1},
                     static_cast<std::uint32_t>(p.steps.size()), 3);
    test::step_spec& s = p.add_step(Operator::MatrixFunction, {x}, y);
    s.matrix = kind;
    s.scratch_bytes = p.lane_bytes;
  }
  p.add_step(Operator::IntegerMatMul, {a, b}, p.add_output("product", {2, 5, 3}, 2, 3, DataType::int32)).tile = {1, 2,
                                                                                                                 0};
  return p;
}

/// Samples of an image at rows and columns that are inputs.
inline test::plan_spec image_samples() {
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {2, 5, 6, 3, 4}, 1), rows = p.add_input("rows", {2, 7, 9, 3}, 1),
                      columns = p.add_input("columns", {2, 7, 9, 3}, 1),
                      factors = p.add_input("factors", {2, 7, 9, 3}, 1), y = p.add_output("y", {2, 7, 9, 3, 4}, 0, 1);
  p.add_step(nsk::format::Operator::SampleImage, {x, rows, columns, factors}, y, "samples").tile = {5, 2, 0};
  return p;
}

/// A product of stored integers, and a sum in fixed point.
inline test::plan_spec quantized_arithmetic() {
  using nsk::format::DataType;
  using nsk::format::Operator;
  test::plan_spec p;
  const std::uint32_t a = p.add_input("a", {3, 5}, 2, DataType::uint8),
                      b = p.add_input("b", {3, 5}, 2, DataType::uint8);
  test::step_spec& product =
      p.add_step(Operator::QuantizedBinary, {a, b}, p.add_output("product", {3, 5}, 0, 2, DataType::uint8));
  product.alpha = product.beta = 0.5f;
  product.binary = nsk::format::BinaryKind::mul;
  test::step_spec& sum =
      p.add_step(Operator::QuantizedBinary, {a, b}, p.add_output("sum", {3, 5}, 1, 2, DataType::uint8));
  sum.alpha = sum.beta = sum.scale = 0;
  sum.multiplier = 1 << 19;
  sum.shift = 20;
  return p;
}

/// The plans with ports in and out, as they are and between copies.
inline std::vector<test::plan_spec> operator_plans() {
  std::vector<test::plan_spec> plans = {test::make_cnn().plan,
                                        test::make_mixed(),
                                        test::make_recurrent(false, true),
                                        test::make_indices(),
                                        test::make_lstm(),
                                        test::make_policy(),
                                        test::make_tree_ensemble(),
                                        test::make_scatter(),
                                        test::quantized::quantize(),
                                        test::quantized::dequantize(),
                                        test::quantized::table(),
                                        test::quantized::convolution(),
                                        test::quantized::convolution_of_rows(),
                                        test::quantized::convolution_and_sum(),
                                        test::quantized::depthwise(),
                                        test::quantized::pooling(),
                                        test::quantized::dynamic_range(),
                                        test::quantized::dynamic_quantize(),
                                        test::quantized::sums(),
                                        test::quantized::real_sums(),
                                        test::quantized::mean(),
                                        test::quantized::resizing(),
                                        with_narrow_weights(),
                                        matrices(),
                                        image_samples(),
                                        quantized_arithmetic()};
  for (std::size_t i = 0, n = plans.size(); i < n; ++i) plans.push_back(between_copies(plans[i]));
  plans.push_back(test::make_backwards());
  plans.push_back(test::make_counted());  // a copied number would come behind what follows it
  return plans;
}

}
