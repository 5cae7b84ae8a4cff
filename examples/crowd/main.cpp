// SPDX-License-Identifier: MIT
// A thousand agents, of which some ask in each frame, on several threads; one run per frame answers them
// (nsk::batcher).
//   crowd MODEL.nsk [--agents 1000] [--frames 120] [--threads 4] [--slots 256] [--trace TRACE.json]
// nsk convert examples/models/yard_agent.onnx -o agent.nsk --batch-max 128 makes the model. Prints what happened, the
// line of a run log, and fails where an answer differs from a run of that agent alone.
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <netsuke/all_ops.hpp>
#include <netsuke/batcher.hpp>
#include <netsuke/log.hpp>
#include <thread>
#include "agents/yard.hpp"
#include "support/command_line.hpp"
#include "support/network.hpp"

using namespace example;

static constexpr const char* k_usage =
    "crowd MODEL.nsk [--agents 1000] [--frames 120] [--threads 4] [--slots 256] [--trace TRACE.json]";
static constexpr const char* k_seen = "obs_0";
static constexpr const char* k_chosen = "deterministic_continuous_actions";
using policy = nsk::session<nsk::all_settings>;

static constexpr int k_turns = 12;  ///< frames in which all agents ask once

/// Nanoseconds, for the trace and the log.
struct game_clock {
  std::int64_t operator()() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

/// What the agents' threads did in all frames.
struct counts {
  std::atomic<int> asked{0}, full{0}, wrong{0}, longest_wait{0};
};

/// What one agent's thinking needs from frame to frame.
struct thought {
  float seen[yard::observations] = {};
  int asked_in = -1, next_frame = 0;  ///< -1: it waits for no answer
};

/// The agents i with i % threads == thread: takes answers, lets those ask whose turn has come. Near its goal an agent
/// thinks every fourth frame, far from it every twelfth.
static void think(const yard& world, nsk::batcher& crowd, std::vector<thought>& thoughts, std::vector<float>& actions,
                  counts& all, int frame, std::size_t thread, std::size_t threads) {
  for (std::size_t i = thread; i < thoughts.size(); i += threads) {
    thought& t = thoughts[i];
    const int id = static_cast<int>(i);
    if (t.asked_in >= 0 && crowd.answered(id)) {
      must(crowd.read<float>(id, k_chosen, {&actions[i * yard::actions], yard::actions}));
      int wait = frame - t.asked_in, longest = all.longest_wait;
      while (wait > longest && !all.longest_wait.compare_exchange_weak(longest, wait)) continue;
      t.asked_in = -1;
    }
    if (t.asked_in >= 0 || frame < t.next_frame) continue;
    const agent& a = world.agents()[i];
    nsk::batch_row row;
    if (!crowd.ask(id, row)) {  // queue_full: it drives on as before, and asks in the next frame
      ++all.full;
      continue;
    }
    world.observe(a, t.seen);
    must(row.write<float>(k_seen, t.seen));
    crowd.submit(row);
    ++all.asked;
    t.asked_in = frame;
    t.next_frame = frame + (length(a.goal - a.position) < 8 ? 4 : k_turns);
  }
}

/// Compares what the last run answered with runs of one row.
static void compare_with_single_runs(const nsk::batcher& crowd, policy& alone, const std::vector<thought>& thoughts,
                                     counts& all) {
  for (int row = 0; row < crowd.served(); ++row) {
    const int id = crowd.served_agent(row);
    const thought& t = thoughts[static_cast<std::size_t>(id)];
    float expected[yard::actions], answered[yard::actions];
    must(alone.write<float>(k_seen, t.seen));
    alone.run();
    must(alone.read<float>(k_chosen, expected));
    must(crowd.read<float>(id, k_chosen, answered));
    all.wrong += std::memcmp(expected, answered, sizeof expected) != 0;
  }
}

int main(int argc, char** argv) {
  const command_line line(argc, argv, k_usage, {"--agents", "--frames", "--threads", "--slots", "--trace"}, 1, 1);
  const auto number = [&](const char* option, const char* otherwise) {
    const int value = std::atoi(line.value(option, otherwise).c_str());
    if (value < 1) fail(std::string(option) + " takes a number of at least 1\nusage: " + k_usage);
    return value;
  };
  const int agents = number("--agents", "1000"), frames = number("--frames", "120"), slots = number("--slots", "256");
  const auto threads = static_cast<std::size_t>(number("--threads", "4"));
  const network files(line.words()[0]);
  const memory_block memory_alone(files.model.required_bytes());
  policy net(files.model, files.memory), alone(files.model, memory_alone);
  must(net.status());
  const nsk::batcher_options how{agents, slots, {}};
  const memory_block memory(nsk::batcher::required_bytes(net.variant(), how));
  nsk::batcher crowd(net.variant(), how, memory);
  must(crowd.status());
  if (net.input_count() != 1 || crowd.row_bytes() != sizeof(float) * yard::observations || !net.input<float>(k_seen) ||
      !net.output<float>(k_chosen))
    fail("this is not the policy of the yard: convert examples/models/yard_agent.onnx with --batch-max");
  must(alone.set_batch(1));

  std::vector<char> text(1 << 20);
  nsk::trace_writer trace(text, "crowd");
  alignas(8) std::byte log_memory[nsk::run_log::required_bytes(256)];
  nsk::run_log log(log_memory);
  log.describe(files.model);

  yard world(110, 120, agents, 11);
  std::vector<thought> thoughts(static_cast<std::size_t>(agents));
  for (int i = 0; i < agents; ++i) thoughts[static_cast<std::size_t>(i)].next_frame = i % k_turns;
  std::vector<float> actions(static_cast<std::size_t>(agents) * yard::actions, 0.0F);
  counts all;
  int runs = 0, rows = 0, largest = 0;
  const game_clock clock;
  for (int frame = 0; frame < frames; ++frame) {
    {
      nsk::trace_scope scope(trace, clock, nsk::trace_stage::input);
      std::vector<std::thread> workers;
      for (std::size_t i = 0; i < threads; ++i)
        workers.emplace_back([&, i] { think(world, crowd, thoughts, actions, all, frame, i, threads); });
      for (std::thread& w : workers) w.join();
    }
    {
      nsk::trace_scope scope(trace, clock, nsk::trace_stage::inference);
      const std::int64_t begin = clock();
      must(crowd.run(net));
      if (crowd.served() > 0) log.run(clock() - begin);
    }
    runs += crowd.served() > 0;
    rows += crowd.served();
    largest = std::max(largest, crowd.served());
    compare_with_single_runs(crowd, alone, thoughts, all);
    nsk::trace_scope scope(trace, clock, nsk::trace_stage::output);
    world.step(actions.data());
  }

  int reached = 0;
  for (const agent& a : world.agents()) reached += a.reached;
  std::printf("%d agents on %zu threads, %d frames: %d rows asked, %d found the queue full, %d answered in %d runs\n",
              agents, threads, frames, all.asked.load(), all.full.load(), rows, runs);
  std::printf("largest batch %d of %d, longest wait %d frames, %d goals reached, %d answers differ from single runs\n",
              largest, net.variant().batch(), all.longest_wait.load(), reached, all.wrong.load());
  char said[nsk::run_log::max_line_bytes];
  const nsk::span<const char> log_line = log.line(said);
  std::fwrite(log_line.data(), 1, log_line.size(), stdout);
  const std::string to = line.value("--trace", "");
  if (!to.empty()) {
    const nsk::span<const char> events = trace.finish();
    std::ofstream file(to, std::ios::binary);
    if (!file.write(events.data(), static_cast<std::streamsize>(events.size()))) fail("cannot write " + to);
  }
  return all.wrong == 0 ? 0 : 1;
}
