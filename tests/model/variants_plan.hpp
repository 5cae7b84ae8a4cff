// SPDX-License-Identifier: MIT
#pragma once
/// A model whose layers have kernels for speed alone: pairs of panels, prefetching, windows of depthwise convolution.
#include "sample_plans.hpp"

namespace test {

/// x [1,7,11,64] -> 3x3 convolution (`deep`, 216 KiB of weights) -> 3x3 depthwise (`first`) -> mean (`mean`); and x ->
/// Winograd's convolution (`cells`, 288 KiB) -> 5x5 depthwise with stride 2 -> maximum of all pixels (`best`).
inline plan_spec make_variants() {
  using format::Operator;
  plan_spec p;
  noise random(11);
  const std::uint32_t end = 6;
  const std::uint32_t x = p.add_input("x", {1, 7, 11, 64}, end);
  const std::uint32_t deep = p.add_output("deep", {1, 5, 9, 96}, 0, end);
  const std::uint32_t first = p.add_output("first", {1, 3, 7, 96}, 1, end);
  const std::uint32_t mean = p.add_output("mean", {1, 1, 1, 96}, 2, end);
  const std::uint32_t cells = p.add_output("cells", {1, 7, 11, 32}, 3, end);
  const std::uint32_t second = p.add_output("second", {1, 2, 4, 32}, 4, end);
  const std::uint32_t best = p.add_output("best", {1, 1, 1, 32}, 5, end);
  const auto panels = [&](std::size_t depth, std::size_t channels) {
    const std::vector<float> matrix = random.many(depth * channels);
    return p.add_panels("w", matrix, random.many(channels));
  };
  const std::uint32_t winograd_weights = p.add_constant(
      "u", random.many(static_cast<std::size_t>(nsk::winograd_floats(nsk::conv_algorithm::winograd4, 32, 64))));
  p.tensors[winograd_weights].packing = format::Packing::winograd4;

  p.add_step(Operator::Conv2D, {x, panels(9 * 64, 96)}, deep, "deep").window = format::Window(3, 3, 1, 1, 1, 1, 0, 0);
  p.add_step(Operator::DepthwiseConv2D, {deep, panels(9, 96)}, first, "first").window =
      format::Window(3, 3, 1, 1, 1, 1, 0, 0);
  p.add_step(Operator::Reduce, {first}, mean, "mean");
  step_spec& winograd = p.add_step(Operator::Conv2D, {x, winograd_weights}, cells, "cells");
  winograd.window = format::Window(3, 3, 1, 1, 1, 1, 1, 1);
  winograd.algorithm = format::ConvAlgorithm::winograd4;
  winograd.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::conv_2d_scratch_bytes(
      {7, 11, 64, 7, 11, 32, 1, {}, 0, {3, 3, 1, 1, 1, 1, 1, 1}, nsk::conv_algorithm::winograd4}));
  p.lane_bytes = (winograd.scratch_bytes + 63) / 64 * 64;
  p.add_step(Operator::DepthwiseConv2D, {cells, panels(25, 32)}, second, "second").window =
      format::Window(5, 5, 2, 2, 1, 1, 0, 0);
  p.add_step(Operator::Pool2D, {second}, best, "best").window = format::Window(2, 4, 1, 1, 1, 1, 0, 0);
  return p;
}

}
