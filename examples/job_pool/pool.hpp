// SPDX-License-Identifier: MIT
#pragma once
/// The smallest possible job system: threads that take numbers from one counter.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace example {

/// Runs parallel_for on its own threads and the caller's. Allocates when made, never in a call. One caller at a time,
/// and not from inside a job.
class job_pool {
 public:
  /// Starts `workers` threads beside the one that will call parallel_for.
  explicit job_pool(int workers) {
    for (int i = 0; i < workers; ++i) m_threads.emplace_back([this] { work(); });
  }
  ~job_pool() {
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      m_stop = true;
    }
    m_wake.notify_all();
    for (std::thread& t : m_threads) t.join();
  }
  job_pool(const job_pool&) = delete;
  job_pool& operator=(const job_pool&) = delete;

  /// Calls f(i) once for each i in [0, count), and returns when all calls have returned.
  template <class F>
  void parallel_for(int count, F&& f) {
    m_data = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
    m_call = [](void* data, int i) { (*static_cast<std::remove_reference_t<F>*>(data))(i); };
    m_unfinished.store(count, std::memory_order_relaxed);
    {
      const std::lock_guard<std::mutex> lock(m_mutex);  // a worker that is about to sleep has not missed this
      m_work.store(static_cast<std::uint64_t>(count) << 32, std::memory_order_release);
    }
    m_wake.notify_all();
    while (run_one()) {
    }
    while (m_unfinished.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

 private:
  static bool any_left(std::uint64_t work) { return (work & 0xffffffffU) < work >> 32; }

  /// Takes a number and runs it; false when none is left. The count is beside the next number in one word, so that a
  /// worker that comes late takes from the work that is there now, or nothing. m_call and m_data stay as they are until
  /// every taken number is finished.
  bool run_one() {
    std::uint64_t work = m_work.load(std::memory_order_acquire);
    do {
      if (!any_left(work)) return false;
    } while (!m_work.compare_exchange_weak(work, work + 1, std::memory_order_acq_rel, std::memory_order_acquire));
    m_call(m_data, static_cast<int>(work & 0xffffffffU));
    m_unfinished.fetch_sub(1, std::memory_order_release);
    return true;
  }

  /// A worker's life. The steps of a network follow each other within microseconds: look around for a while before
  /// going to sleep.
  void work() {
    for (int idle = 0;;) {
      if (run_one()) {
        idle = 0;
      } else if (++idle < 200) {
        std::this_thread::yield();
      } else {
        std::unique_lock<std::mutex> lock(m_mutex);
        m_wake.wait(lock, [this] { return m_stop || any_left(m_work.load(std::memory_order_relaxed)); });
        if (m_stop) return;
        idle = 0;
      }
    }
  }

  alignas(128) std::atomic<std::uint64_t> m_work{0};  ///< count << 32 | next number
  alignas(128) std::atomic<int> m_unfinished{0};
  alignas(128) void (*m_call)(void*, int) = nullptr;
  void* m_data = nullptr;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  bool m_stop = false;
  std::vector<std::thread> m_threads;
};

}  // namespace example
