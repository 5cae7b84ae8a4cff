// SPDX-License-Identifier: MIT
// Lanes on a worker pool of one's own: how much faster they are, beside what two loops of pure arithmetic gain on the
// same threads, which is all that this machine has to give.
//   job_pool MODEL.nsk [LANES]
#include <algorithm>
#include "job_pool/pool.hpp"
#include "support/network.hpp"
#include "support/timing.hpp"

using namespace example;

/// Some milliseconds of arithmetic that touches no memory.
static void control(int i) {
  static std::atomic<unsigned> s_result;
  unsigned x = static_cast<unsigned>(i);
  for (int k = 0; k < 4000000; ++k) x = x * 1664525U + 1013904223U;
  s_result.store(x, std::memory_order_relaxed);
}

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: job_pool MODEL.nsk [LANES]");
  const int lanes = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, 64) : 2;
  const network n(argv[1], lanes);
  nsk::session<> net(n.model, n.memory);
  must(net.status());
  fill_input(net);

  job_pool pool(lanes - 1);
  const comparison network_times = compare([&] { net.run(); }, [&] { net.run(pool, lanes); });
  const bool same = results(net) == expected_results(n.model);
  const auto one_after_the_other = [&] {
    for (int i = 0; i < lanes; ++i) control(i);
  };
  const comparison control_times =
      compare(one_after_the_other, [&] { pool.parallel_for(lanes, [](int i) { control(i); }); });

  std::printf("network: 1 lane %.2f ms, %d lanes %.2f ms: %.2f times as fast\n", network_times.one, lanes,
              network_times.other, network_times.ratio());
  std::printf("control: %.2f times as fast\n", control_times.ratio());
  std::printf("bits: %s\n", same ? "the same" : "DIFFERENT");
  return same ? 0 : 2;
}
