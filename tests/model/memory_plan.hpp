// SPDX-License-Identifier: MIT
#pragma once
/// An agent with a memory: the recurrence of an LSTM whose h and c are states, and an output with random noise.
#include <netsuke/format/scratch.hpp>
#include "sample_plans.hpp"

namespace test {

inline constexpr std::int32_t memory_rows = 4, memory_inputs = 5, memory_cells = 6;

/// x [4, 5] -> gates [4, 24] -> LSTM with the states h and c [4, 1, 6] -> action [4, 6] = h + normal noise.
inline plan_spec make_memory() {
  using format::Operator;
  constexpr std::int32_t n = memory_rows, cells = memory_cells;
  plan_spec p;
  noise random(21);
  const std::uint32_t end = 6;
  const std::uint32_t x = p.add_input("x", {n, memory_inputs}, end);
  const std::uint32_t h = p.add_state("h", {n, 1, cells}, end), c = p.add_state("c", {n, 1, cells}, end);
  const std::uint32_t gates = p.add_dense("gates", {n, 4 * cells}, 0, 1);
  const std::uint32_t all = p.add_dense("all", {n, 3, 1, cells}, 1, end);  // h of the time step, the last h, the last c
  const std::uint32_t noise_values = p.add_dense("noise", {n, cells}, 4, 5);
  const std::uint32_t action = p.add_output("action", {n, cells}, 5, end);
  const std::uint32_t input_weights = p.add_panels("w", random.many(memory_inputs * 4 * cells), random.many(4 * cells));
  const std::uint32_t weights = p.add_constant(
      "r",
      random.many(static_cast<std::size_t>(nsk::recurrent_weight_floats(nsk::recurrent_kind::lstm, false, cells))));
  p.tensors[weights].packing = format::Packing::panels;
  const auto part = [&](std::uint64_t position) {
    return add_view(p, all, {n, 1, cells}, {3 * cells, cells, 1}, position * cells * sizeof(float));
  };

  p.add_step(Operator::FullyConnected, {x, input_weights}, gates, "gates").tile = {0, 2, 16};
  const std::uint32_t by_direction = add_view(p, gates, {n, 1, 1, 4 * cells}, {4 * cells, 4 * cells, 4 * cells, 1});
  step_spec& lstm = p.add_step(Operator::Recurrent, {by_direction, weights, h, c}, all, "lstm");
  lstm.recurrent.functions = {0, 1, 1};
  lstm.recurrent.parameters.assign(6, 0.0f);
  lstm.tile = {3, 1, 0};
  lstm.scratch_bytes =
      static_cast<std::uint64_t>(nsk::kernels::recurrent_scratch_bytes(nsk::recurrent_kind::lstm, n, cells));
  p.lane_bytes = lstm.scratch_bytes;
  p.add_step(Operator::Copy, {part(1)}, h, "keep h");
  p.add_step(Operator::Copy, {part(2)}, c, "keep c");
  p.add_step(Operator::Random, {}, noise_values, "noise").random = format::RandomKind::normal;
  const std::uint32_t now = add_view(p, all, {n, cells}, {3 * cells, 1});
  p.add_step(Operator::Binary, {now, noise_values}, action, "act").tile = {0, 2, 0};
  return p;
}

}
