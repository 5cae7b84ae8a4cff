// SPDX-License-Identifier: MIT
#pragma once
/// The tool's own job system, as a game would have one: worker threads that wait for parallel_for.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nsk::tool {

class job_pool {
 public:
  /// Starts `threads` - 1 workers; the caller of parallel_for is the last thread.
  explicit job_pool(int threads);
  ~job_pool();
  job_pool(const job_pool&) = delete;
  job_pool& operator=(const job_pool&) = delete;

  /// Calls f(i) once for each i in [0, count), on any thread, and returns when all have returned.
  template <class F>
  void parallel_for(int count, F&& f) {
    run(
        count, [](void* context, int i) { (*static_cast<std::remove_reference_t<F>*>(context))(i); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  using call = void (*)(void* context, int i);
  void run(int count, call function, void* context);
  void work(int thread);
  void wait_for_work(unsigned seen);
  /// Numbers thread, thread + threads, ...: the same thread has the same number in every call.
  void take_share(int thread);

  std::vector<std::thread> m_threads;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::atomic<unsigned> m_generation{0};
  std::atomic<int> m_running{0}, m_sleeping{0};
  call m_function = nullptr;
  void* m_context = nullptr;
  int m_count = 0;
  bool m_stop = false;
};

}
