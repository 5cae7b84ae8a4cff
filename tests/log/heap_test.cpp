// SPDX-License-Identifier: MIT
// The batcher, traces and the run log take nothing from the heap.
#include <doctest/doctest.h>
#include "../resources.hpp"
#include "../run/memory_policy.hpp"
#include <netsuke/log.hpp>

namespace {

struct counting_moments {
  static inline std::int64_t now = 0;
  std::int64_t operator()() const { return ++now; }
};
struct traced_crowd_settings : test::crowd_settings {
  using profiler = nsk::trace_profiler<counting_moments>;
};

/// Asks for all agents, runs, traces and logs, frame by frame; returns how many rows were answered.
int use_crowd(nsk::session<traced_crowd_settings>& net, const nsk::batcher_options& how, nsk::span<std::byte> memory,
              nsk::span<char> text, nsk::run_log& log) {
  nsk::batcher crowd(net.variant(), how, memory);
  int answered = 0;
  for (int frame = 0; frame < 20; ++frame) {
    nsk::trace_writer trace(text);
    net.profiler().attach(trace, net.variant());
    for (int agent = 0; agent < how.agents; ++agent) {
      nsk::batch_row row;
      if (!crowd.ask(agent, row)) continue;
      row.input<float>("seen")[0] = 1;
      crowd.submit(row);
    }
    const std::int64_t begin = counting_moments()();
    if (!crowd.run(net)) return -1;
    log.run(counting_moments()() - begin);
    net.profiler().detach();
    answered += crowd.served();
    if (trace.finish().empty() || log.line(text).empty()) return -1;
  }
  return answered;
}

TEST_CASE("heap: not one call from making a batcher to the last line of the log") {
  test::opened o(test::make_memory_policy());
  nsk::session<traced_crowd_settings> net(o.model, o.memory.span());
  const nsk::batcher_options how{9, 4, test::crowd_states};
  test::aligned_bytes memory(nsk::batcher::required_bytes(net.variant(), how));
  std::vector<char> text(8192);
  std::vector<std::int64_t> window(nsk::run_log::required_bytes(8) / sizeof(std::int64_t));
  nsk::run_log log(nsk::as_writable_bytes(window));
  const long before = test::heap_calls;
  const int answered = use_crowd(net, how, memory.span(), text, log);
  CHECK(test::heap_calls == before);
  CHECK(answered == 20 * 4);
#if defined(NSK_TEST_COUNTS_HEAP)
  text.resize(1 << 20);
  CHECK(test::heap_calls > before);  // they are counted
#endif
}

}
