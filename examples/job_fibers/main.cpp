// SPDX-License-Identifier: MIT
// Networks on fibers: every character thinks in a job of its own, and each of these jobs shares its network's tiles out
// as further jobs and waits for them. There are more waiting jobs than threads; no thread ever waits.
//   job_fibers MODEL.nsk [CHARACTERS] [THREADS]
#include <algorithm>
#include <atomic>
#include "job_fibers/fibers.hpp"
#include "support/network.hpp"

using namespace example;

/// The fibers as the engine wants them.
struct fiber_jobs {
  fibers& system;
  template <class F>
  void parallel_for(int count, F&& f) {
    counter unfinished{0};
    system.kick(count, f, unfinished);
    fibers::wait(unfinished);
  }
};

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: job_fibers MODEL.nsk [CHARACTERS] [THREADS]");
  const int characters = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, 100) : 5;
  const int threads = argc > 3 ? std::clamp(std::atoi(argv[3]), 1, 8) : 2;
  const network n(argv[1]);
  std::vector<memory_block> memory;
  std::vector<nsk::session<>> nets;
  for (int i = 0; i < characters; ++i) {
    memory.emplace_back(n.model.required_bytes(threads));
    nets.emplace_back(n.model, memory.back());
    must(nets.back().status());
    fill_input(nets.back(), static_cast<unsigned>(i));
  }

  std::atomic<int> thinking{0}, max_at_once{0};
  fibers system(threads, characters + 1);  // all may wait at once
  const auto think = [&](int character) {
    const int now = ++thinking;
    for (int maximum = max_at_once; maximum < now && !max_at_once.compare_exchange_weak(maximum, now);) {
    }
    nets[static_cast<std::size_t>(character)].run(fiber_jobs{system}, threads);
    --thinking;
  };
  counter unfinished{0};
  system.kick(characters, think, unfinished);
  fibers::wait(unfinished);

  int same = 0;
  for (int i = 0; i < characters; ++i) {
    same += results(nets[static_cast<std::size_t>(i)]) == expected_results(n.model, static_cast<unsigned>(i));
  }
  std::printf("%d characters on %d threads, up to %d thinking at once\n", characters, threads, max_at_once.load());
  std::printf("bits: %s\n", same == characters ? "the same" : "DIFFERENT");
  return same == characters ? 0 : 2;
}
