// SPDX-License-Identifier: MIT
#pragma once
/// A plan with the recurrence of an LSTM in both directions, with peepholes and lengths.
#include <netsuke/format/scratch.hpp>
#include "sample_plans.hpp"

namespace test {

inline plan_spec make_lstm() {
  using format::DataType;
  using format::Operator;
  constexpr std::int32_t batch = 3, time_steps = 4, directions = 2, hidden = 5;
  plan_spec p;
  noise random(7);
  const std::uint32_t x = p.add_input("x", {batch, time_steps, directions, 4 * hidden}, 1);
  const std::uint32_t h = p.add_input("h", {batch, directions, hidden}, 1);
  const std::uint32_t c = p.add_input("c", {batch, directions, hidden}, 1);
  const std::uint32_t y = p.add_output("y", {batch, time_steps + 2, directions, hidden}, 0, 1);
  const auto floats =
      static_cast<std::size_t>(directions * nsk::recurrent_weight_floats(nsk::recurrent_kind::lstm, false, hidden));
  const std::uint32_t weights = p.add_constant("weights", random.many(floats));
  p.tensors[weights].packing = format::Packing::panels;
  const std::uint32_t peephole = p.add_constant("peephole", random.many(3 * directions * hidden));
  const std::uint32_t lengths = p.add_constant("lengths", std::vector<std::int32_t>{4, 0, 2}, DataType::int32);
  step_spec& s = p.add_step(Operator::Recurrent, {x, weights, h, c, peephole, lengths}, y, "lstm");
  s.recurrent.reverse = 2;
  s.recurrent.peephole = s.recurrent.lengths = true;
  s.recurrent.clip = 3;
  s.recurrent.functions = {0, 1, 1, 0, 1, 1};
  s.recurrent.parameters.assign(12, 0.5f);
  s.tile = {time_steps + 2, 1, 0};
  s.scratch_bytes =
      static_cast<std::uint64_t>(nsk::kernels::recurrent_scratch_bytes(nsk::recurrent_kind::lstm, batch, hidden));
  p.lane_bytes = s.scratch_bytes;
  return p;
}

/// make_lstm() for a batch of at most three rows.
inline plan_spec make_lstm_batch() {
  plan_spec p = make_lstm();
  for (const std::size_t i : {0, 2, 3, 5}) p.tensors[p.steps[0].inputs[i]].batch = 1;
  p.tensors[p.steps[0].outputs[0]].batch = 1;
  p.batch = 3;
  return p;
}

}
