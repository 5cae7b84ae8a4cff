// SPDX-License-Identifier: MIT
#pragma once
/// A page of fibers, as games have them: kick jobs with a counter, wait for the counter by doing other work.
/// A fiber stays on the thread that started it. Nothing allocates after the constructor.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <ucontext.h>
#include <vector>

namespace example {

/// Jobs that are not finished.
using counter = std::atomic<int>;

class fibers {
 public:
  /// Starts `threads` threads with `fibers_each` fibers of 128 KiB: 32 for the engine, the rest for the game.
  explicit fibers(int threads, int fibers_each = 16) {
    for (int i = 0; i < threads; ++i) m_workers.push_back(std::make_unique<worker>(*this, fibers_each));
    for (auto& w : m_workers) w->thread = std::thread([&w] { w->loop(); });
  }
  /// Every kicked job has to be finished.
  ~fibers() {
    m_stop = true;
    for (auto& w : m_workers) w->thread.join();
  }

  /// Adds jobs f(0) ... f(count - 1). `f` has to live until `unfinished`, which grows by `count` now, is zero again. At
  /// most 1024 jobs may be queued, and fewer may wait at once than there are fibers.
  template <class F>
  void kick(int count, F& f, counter& unfinished) {
    unfinished.fetch_add(count);
    const auto call = [](const void* data, int i) { (*static_cast<F*>(const_cast<void*>(data)))(i); };
    for (int i = 0; i < count; ++i) push({call, std::addressof(f), i, &unfinished});
  }
  /// From inside a job: other jobs run on this thread until the counter is zero. From outside: sleeps now and then.
  static void wait(const counter& unfinished) {
    worker* const w = s_worker;
    if (w == nullptr) {
      while (unfinished.load() != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else if (unfinished.load() != 0) {
      fiber& self = *w->running;
      self.waits_for = &unfinished;
      swapcontext(&self.context, &w->home);
    }
  }

 private:
  struct job {
    void (*call)(const void*, int) = nullptr;
    const void* data = nullptr;
    int index = 0;
    counter* unfinished = nullptr;
  };
  struct fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    job work;                            ///< no call: the fiber is free
    const counter* waits_for = nullptr;  ///< null: it has just been given its work
  };
  struct worker {
    fibers& all;
    std::vector<fiber> own;
    fiber* running = nullptr;
    ucontext_t home;
    std::thread thread;

    worker(fibers& owner, int count) : all(owner), own(static_cast<std::size_t>(count)) {
      constexpr std::size_t stack_bytes = 128 * 1024;
      for (fiber& f : own) {
        f.stack = std::make_unique<char[]>(stack_bytes);
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.get();
        f.context.uc_stack.ss_size = stack_bytes;
        makecontext(&f.context, body, 0);
      }
    }
    /// Goes round its fibers: those that wait for nothing any more go on, free ones get a job.
    void loop() {
      s_worker = this;
      while (!all.m_stop) {
        bool any = false;
        for (fiber& f : own) {
          const bool ready = f.work.call != nullptr ? f.waits_for->load() == 0 : all.pop(f.work);
          if (ready) swapcontext(&home, &(running = &f)->context);
          any = any || ready;
        }
        if (!any) std::this_thread::yield();
      }
    }
  };

  /// A fiber's life: run the work that it was given, go home, run the next.
  static void body() {
    worker& w = *s_worker;
    for (fiber& self = *w.running;;) {
      self.work.call(self.work.data, self.work.index);
      counter& unfinished = *self.work.unfinished;
      self.work = {};
      unfinished.fetch_sub(1);
      swapcontext(&self.context, &w.home);
    }
  }

  bool pop(job& j) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (m_first == m_last) return false;
    j = m_queue[m_first++ % m_queue.size()];
    return true;
  }
  void push(const job& j) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_queue[m_last++ % m_queue.size()] = j;
  }

  static inline thread_local worker* s_worker = nullptr;
  std::mutex m_mutex;
  std::array<job, 1024> m_queue;
  std::size_t m_first = 0, m_last = 0;
  std::atomic<bool> m_stop{false};
  std::vector<std::unique_ptr<worker>> m_workers;
};

}  // namespace example
