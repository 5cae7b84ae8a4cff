// SPDX-License-Identifier: MIT
#pragma once
/// A small policy for a batch of agents, as a starting point for invalid batches and as a network to run.
#include "sample_plans.hpp"

namespace test {

/// Steps of make_policy, in order.
enum policy_step : std::size_t { dense_step, noise_step, sum_step, soft_step, top_step, mean_step, pick_step };
inline constexpr std::int32_t policy_rows = 6;

/// x [6, 5] -> dense [6, 20] -> + normal noise -> softmax -> position of the largest; the mean of each row; a table's
/// element at that position. Every tensor has one row per agent.
inline plan_spec make_policy() {
  using format::DataType;
  using format::Operator;
  constexpr std::int32_t n = policy_rows;
  plan_spec p;
  noise random(11);
  const std::uint32_t end = 7;
  const std::uint32_t x = p.add_input("obs_0", {n, 5}, end);
  const std::uint32_t logits = p.add_dense("logits", {n, 20}, 0, 2);
  const std::uint32_t noise_values = p.add_dense("noise", {n, 20}, 1, 2);
  const std::uint32_t sum = p.add_dense("sum", {n, 20}, 2, 3);
  const std::uint32_t soft = p.add_output("probabilities", {n, 20}, 3, end);
  const std::uint32_t best = p.add_output("action", {n, 1}, 4, end, DataType::int64);
  const std::uint32_t mean = p.add_output("mean", {n, 1}, 5, end);
  const std::uint32_t picked = p.add_output("picked", {n}, 6, end);
  const std::uint32_t weights = p.add_panels("w", random.many(5 * 20), random.many(20));
  const std::uint32_t table = p.add_constant("table", random.many(20));

  p.add_step(Operator::FullyConnected, {x, weights}, logits, "dense").tile = {0, 4, 16};
  step_spec& random_step = p.add_step(Operator::Random, {}, noise_values, "noise");
  random_step.random = format::RandomKind::normal;
  random_step.stream = 3;
  random_step.tile = {0, 1, 0};
  p.add_step(Operator::Binary, {logits, noise_values}, sum, "sum").tile = {0, 4, 0};
  p.add_step(Operator::Softmax, {sum}, soft, "soft").axis = 1;
  p.add_step(Operator::ArgReduce, {soft}, best, "top").axis = 1;
  p.add_step(Operator::Reduce, {soft}, mean, "mean");
  p.add_step(Operator::Gather, {table, add_view(p, best, {n}, {1})}, picked, "pick").axis = 0;
  for (tensor_spec& t : p.tensors)
    if (t.shape[0] == n) t.batch = 1;
  p.batch = policy_rows;
  return p;
}

}
