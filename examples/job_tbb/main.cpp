// SPDX-License-Identifier: MIT
// Lanes on oneTBB.
//   job_tbb MODEL.nsk [LANES]
#include <algorithm>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include "support/network.hpp"
#include "support/timing.hpp"

using namespace example;

/// oneTBB as the engine wants it: one task per lane, and no foreign task on a thread that waits for the lanes.
struct tbb_jobs {
  tbb::task_arena& arena;
  template <class F>
  void parallel_for(int count, F&& f) {
    arena.execute(
        [&] { tbb::this_task_arena::isolate([&] { tbb::parallel_for(0, count, f, tbb::simple_partitioner()); }); });
  }
};

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: job_tbb MODEL.nsk [LANES]");
  const int lanes = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, 64) : 2;
  const network n(argv[1], lanes);
  nsk::session<> net(n.model, n.memory);
  must(net.status());
  fill_input(net);

  tbb::task_arena arena(lanes);
  tbb_jobs jobs{arena};
  const comparison times = compare([&] { net.run(); }, [&] { net.run(jobs, lanes); });
  const bool same = results(net) == expected_results(n.model);
  std::printf("1 lane %.2f ms, %d lanes %.2f ms: %.2f times as fast\n", times.one, lanes, times.other, times.ratio());
  std::printf("bits: %s\n", same ? "the same" : "DIFFERENT");
  return same ? 0 : 2;
}
