// SPDX-License-Identifier: MIT
#pragma once
/// A policy with a memory for a batch of agents, and what one agent alone gets from it.
#include "support.hpp"
#include <netsuke/batcher.hpp>

namespace test {

inline constexpr std::int32_t crowd_rows = 6;
struct crowd_settings : nsk::default_settings {
  using ops = nsk::op_list<nsk::op::fully_connected, nsk::op::binary, nsk::op::softmax, nsk::op::copy>;
  using functions = nsk::function_list<nsk::function::identity>;
};

/// seen [6, 5], h [6, 4] -> dense + h -> softmax = next [6, 4] -> dense -> act [6, 3]; goal [6, 1] int64 is copied to
/// picked [6, 1]. One row per agent.
inline plan_spec make_memory_policy(std::int32_t n = crowd_rows) {
  using format::DataType;
  using format::Operator;
  constexpr std::uint32_t end = 5;
  plan_spec p;
  noise random(23);
  const std::uint32_t seen = p.add_input("seen", {n, 5}, end), h = p.add_input("h", {n, 4}, end);
  const std::uint32_t goal = p.add_input("goal", {n, 1}, end);
  p.tensors[goal].type = DataType::int64;
  const std::uint32_t mixed = p.add_dense("mixed", {n, 4}, 0, 1), sum = p.add_dense("sum", {n, 4}, 1, 2);
  const std::uint32_t next = p.add_output("next", {n, 4}, 2, end), act = p.add_output("act", {n, 3}, 3, end);
  const std::uint32_t picked = p.add_output("picked", {n, 1}, 4, end, DataType::int64);
  p.buffers[p.tensors[goal].buffer].bytes = p.buffers[p.tensors[picked].buffer].bytes;
  const std::uint32_t first = p.add_panels("first", random.many(5 * 4), random.many(4));
  const std::uint32_t last = p.add_panels("last", random.many(4 * 3), random.many(3));
  p.add_step(Operator::FullyConnected, {seen, first}, mixed, "mix");
  p.add_step(Operator::Binary, {mixed, h}, sum, "sum");
  p.add_step(Operator::Softmax, {sum}, next, "next").axis = 1;
  p.add_step(Operator::FullyConnected, {next, last}, act, "act");
  p.add_step(Operator::Copy, {goal}, picked, "pick");
  for (tensor_spec& t : p.tensors)
    if (t.shape[0] == n) t.batch = 1;
  p.batch = n;
  return p;
}

inline constexpr nsk::recurrent_pair crowd_states[] = {{"h", "next"}};

/// What agent `agent` sees when it asks for the time `turn`.
inline std::vector<float> seen_by(int agent, int turn) {
  return noise(static_cast<std::uint32_t>(agent * 1000 + turn)).many(5);
}
inline std::int64_t goal_of(int agent, int turn) { return std::int64_t{agent} << 32 | turn; }

/// What an agent must be answered, bit for bit.
struct agent_answer {
  std::vector<std::uint32_t> act, memory;
  std::int64_t picked = 0;
  bool operator==(const agent_answer& o) const { return act == o.act && memory == o.memory && picked == o.picked; }
};

/// Runs one agent alone, turn by turn: a session of one row, of which the test keeps the memory.
template <class Session>
std::vector<agent_answer> alone(opened& o, int agent, int turns) {
  aligned_bytes memory(o.model.required_bytes());
  Session net(o.model, memory.span());
  std::vector<agent_answer> answers;
  std::vector<float> h(4, 0.0f);
  for (int turn = 0; turn < turns; ++turn) {
    if (!net.set_batch(1)) return {};
    const std::vector<float> seen = seen_by(agent, turn);
    std::memcpy(net.template input<float>("seen").data(), seen.data(), 5 * sizeof(float));
    std::memcpy(net.template input<float>("h").data(), h.data(), 4 * sizeof(float));
    net.template input<std::int64_t>("goal")[0] = goal_of(agent, turn);
    net.run();
    std::memcpy(h.data(), net.template output<float>("next").data(), 4 * sizeof(float));
    answers.push_back({bits_of({net.template output<float>("act").data(), 3}), bits_of({h.data(), 4}),
                       net.template output<std::int64_t>("picked")[0]});
  }
  return answers;
}

/// Writes what the agent sees; returns why it could not ask.
inline nsk::status ask(nsk::batcher& crowd, int agent, int turn) {
  nsk::batch_row row;
  if (const nsk::status s = crowd.ask(agent, row); !s) return s;
  const std::vector<float> seen = seen_by(agent, turn);
  std::memcpy(row.input<float>("seen").data(), seen.data(), 5 * sizeof(float));
  row.input<std::int64_t>("goal")[0] = goal_of(agent, turn);
  crowd.submit(row);
  return {};
}

inline agent_answer answer_of(const nsk::batcher& crowd, int agent) {
  return {bits_of(crowd.output<float>(agent, "act")), bits_of(crowd.output<float>(agent, "next")),
          crowd.output<std::int64_t>(agent, "picked")[0]};
}

}
