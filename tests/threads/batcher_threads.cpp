// SPDX-License-Identifier: MIT
// Eight threads ask, one runs: nothing is lost, order is kept, each answer has the bits of a single run. Compiled with
// the thread sanitizer where there is one, which ends the program with an error on a race.
#include "../run/memory_policy.hpp"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {
using session = nsk::session<test::crowd_settings>;

constexpr int thread_count = 8, agents_of_thread = 5, agents = thread_count * agents_of_thread, turns = 40;
constexpr int slots = 11;  // fewer than agents: some find it full

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

/// One thread's agents: what they asked for, and in which order they got their slots.
struct asking_thread {
  int first = 0;
  std::vector<int> order;
  int full = 0, wrong = 0;

  void live(nsk::batcher& crowd, const std::vector<std::vector<test::agent_answer>>& expected) {
    std::vector<int> asked(agents_of_thread, 0), answered(agents_of_thread, 0);
    for (int done = 0; done < agents_of_thread * turns;) {
      for (int i = 0; i < agents_of_thread; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const int agent = first + i;
        if (asked[k] > answered[k] && crowd.answered(agent)) {
          const test::agent_answer& right =
              expected[static_cast<std::size_t>(agent)][static_cast<std::size_t>(answered[k])];
          wrong += !(test::answer_of(crowd, agent) == right);
          ++answered[k];
          ++done;
        }
        if (asked[k] > answered[k] || asked[k] == turns) continue;
        const nsk::status s = test::ask(crowd, agent, asked[k]);
        if (s.code() == nsk::status_code::queue_full) {
          ++full;
          std::this_thread::yield();
          continue;
        }
        require(static_cast<bool>(s), "a row was refused for another reason than a full queue");
        order.push_back(agent);
        ++asked[k];
      }
      std::this_thread::yield();
    }
  }
};

/// Whether the agents of one thread were served in the order in which they asked.
bool same_order(const std::vector<int>& served, const asking_thread& t) {
  std::vector<int> own;
  for (const int agent : served)
    if (agent >= t.first && agent < t.first + agents_of_thread) own.push_back(agent);
  return own == t.order;
}

}

int main() {
  test::opened o(test::make_memory_policy());
  require(static_cast<bool>(o.status), o.status.message());
  std::vector<std::vector<test::agent_answer>> expected;
  for (int i = 0; i < agents; ++i) expected.push_back(test::alone<session>(o, i, turns));
  session net(o.model, o.memory.span());
  const nsk::batcher_options how{agents, slots, test::crowd_states};
  test::aligned_bytes block(nsk::batcher::required_bytes(net.variant(), how));
  nsk::batcher crowd(net.variant(), how, block.span());
  require(static_cast<bool>(crowd), crowd.status().message());

  asking_thread asking[thread_count];
  std::atomic<int> alive{thread_count};
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    asking[i].first = i * agents_of_thread;
    threads.emplace_back([&, i] {
      asking[i].live(crowd, expected);
      --alive;
    });
  }
  std::vector<int> served;
  int runs = 0;
  while (alive > 0) {
    require(static_cast<bool>(crowd.run(net)), "a run was refused");
    for (int row = 0; row < crowd.served(); ++row) served.push_back(crowd.served_agent(row));
    runs += crowd.served() > 0;
    if (crowd.served() == 0) std::this_thread::yield();
  }
  for (std::thread& t : threads) t.join();
  require(served.size() == static_cast<std::size_t>(agents * turns), "a row was lost, or served twice");
  int full = 0;
  for (const asking_thread& t : asking) {
    full += t.full;
    require(t.wrong == 0, "an answer differs from a single run");
    require(same_order(served, t), "rows of a thread were served in another order");
  }
  require(full > 0, "the queue was never full: the test does not reach that case");
  std::printf("%d rows of %d threads in %d runs, %d times full\n", agents * turns, thread_count, runs, full);
  return 0;
}
