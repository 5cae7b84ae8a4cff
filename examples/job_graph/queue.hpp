// SPDX-License-Identifier: MIT
#pragma once
/// Threads that run jobs from one queue: no counters, no waiting, nothing to block on.
#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace example {

/// Small enough to be copied into the queue.
struct job {
  void (*call)(void* data, int a, int b) = nullptr;
  void* data = nullptr;
  int a = 0, b = 0;
};

class job_queue {
 public:
  explicit job_queue(int threads) {
    for (int i = 0; i < threads; ++i) m_threads.emplace_back([this] { work(); });
  }
  /// Runs what is left.
  ~job_queue() {
    push({});  // tells a thread to end, which tells the next one
    for (std::thread& t : m_threads) t.join();
  }

  /// Adds a job; from any thread, jobs included. At most 256 may be in the queue.
  void push(const job& j) {
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      m_jobs[m_last++ % m_jobs.size()] = j;
    }
    m_wake.notify_one();
  }

 private:
  job pop() {
    std::unique_lock<std::mutex> lock(m_mutex);
    m_wake.wait(lock, [this] { return m_first != m_last; });
    return m_jobs[m_first++ % m_jobs.size()];
  }
  void work() {
    for (job j = pop(); j.call != nullptr; j = pop()) j.call(j.data, j.a, j.b);
    push({});
  }

  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::array<job, 256> m_jobs;
  std::size_t m_first = 0, m_last = 0;
  std::vector<std::thread> m_threads;
};

}  // namespace example
