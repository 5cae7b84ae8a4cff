// SPDX-License-Identifier: MIT
// An inference in a job graph that cannot block: every tile is a job, the last tile of a step starts the next step, the
// last step ends the inference. No job waits, and the game only looks whether the result is there.
//   job_graph MODEL.nsk [LANES]
#include <algorithm>
#include <atomic>
#include "job_graph/queue.hpp"
#include "support/network.hpp"

using namespace example;

/// One inference of a session as jobs.
class inference {
 public:
  inference(nsk::session<>& net, job_queue& queue) : m_net(net), m_queue(queue) {}

  /// Starts; write the inputs before, and leave the session alone until is_done().
  void start() {
    m_done.store(false, std::memory_order_relaxed);
    m_net.restart();
    start_step(0);
  }
  /// True when the outputs can be read.
  bool is_done() const { return m_done.load(std::memory_order_acquire); }

 private:
  /// Adds a first tile for each lane. Every step has at least one.
  void start_step(int step) {
    m_step = step;
    m_tiles = m_net.tile_count(step);
    m_unfinished.store(m_tiles, std::memory_order_relaxed);
    const int lanes = std::min(m_tiles, m_net.lanes());
    m_next.store(lanes, std::memory_order_relaxed);
    for (int lane = 0; lane < lanes; ++lane) m_queue.push({run_tile, this, lane, lane});
  }

  /// The job: a tile, then the lane's next one as a new job, so that other jobs get their turn. Whoever finishes the
  /// step's last tile is its continuation; all others touch nothing after they have counted themselves out.
  static void run_tile(void* data, int lane, int tile) {
    inference& self = *static_cast<inference*>(data);
    self.m_net.run_tile(self.m_step, tile, lane);
    const int next = self.m_next.fetch_add(1, std::memory_order_relaxed);
    if (next < self.m_tiles) self.m_queue.push({run_tile, data, lane, next});
    if (self.m_unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) self.end_step();
  }
  void end_step() {
    if (m_step + 1 < m_net.step_count()) return start_step(m_step + 1);
    m_net.finish();
    m_done.store(true, std::memory_order_release);
  }

  nsk::session<>& m_net;
  job_queue& m_queue;
  int m_step = 0, m_tiles = 0;
  alignas(128) std::atomic<int> m_next{0};
  alignas(128) std::atomic<int> m_unfinished{0};
  std::atomic<bool> m_done{false};
};

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: job_graph MODEL.nsk [LANES]");
  const int lanes = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, 64) : 2;
  const network n(argv[1], lanes);
  nsk::session<> net(n.model, n.memory);
  must(net.status());

  job_queue queue(lanes);
  inference thought(net, queue);
  constexpr int k_thoughts = 6;
  int same = 0, frames = 0;
  for (int done = 0; done < k_thoughts; ++done) {
    fill_input(net, static_cast<unsigned>(done));
    thought.start();
    for (; !thought.is_done(); ++frames) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a frame
    same += results(net) == expected_results(n.model, static_cast<unsigned>(done));
  }
  std::printf("%d inferences of %d steps in %d frames; nothing waited\n", k_thoughts, net.step_count(), frames);
  std::printf("bits: %s\n", same == k_thoughts ? "the same" : "DIFFERENT");
  return same == k_thoughts ? 0 : 2;
}
