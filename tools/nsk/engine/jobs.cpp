// SPDX-License-Identifier: MIT
#include "engine/jobs.hpp"

#include "io/system/signals.hpp"

namespace nsk::tool {
namespace {
/// Looks before a worker gives its core away, and before it sleeps: steps follow each other within microseconds.
constexpr int spins = 2000, yields = 2000;

void relax(int look) {
  if (look >= spins) return std::this_thread::yield();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
}

job_pool::job_pool(int threads) {
  m_threads.reserve(static_cast<std::size_t>(threads > 1 ? threads - 1 : 0));
  const signal_hold by_the_caller;  // not by the workers
  for (int i = 1; i < threads; ++i) m_threads.emplace_back([this, i] { work(i); });
}

job_pool::~job_pool() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
    m_generation.fetch_add(1, std::memory_order_release);
  }
  m_wake.notify_all();
  for (std::thread& thread : m_threads) thread.join();
}

void job_pool::take_share(int thread) {
  const int threads = static_cast<int>(m_threads.size()) + 1;
  for (int i = thread; i < m_count; i += threads) m_function(m_context, i);
}

void job_pool::run(int count, call function, void* context) {
  if (m_threads.empty() || count <= 1) {
    for (int i = 0; i < count; ++i) function(context, i);
    return;
  }
  m_function = function;
  m_context = context;
  m_count = count;
  m_running.store(static_cast<int>(m_threads.size()), std::memory_order_relaxed);
  m_generation.fetch_add(1, std::memory_order_seq_cst);
  if (m_sleeping.load(std::memory_order_seq_cst) > 0) {
    const std::lock_guard lock(m_mutex);
    m_wake.notify_all();
  }
  take_share(0);
  for (int i = 0; m_running.load(std::memory_order_acquire) != 0; ++i) relax(i);
}

void job_pool::wait_for_work(unsigned seen) {
  for (int i = 0; i < spins + yields; ++i) {
    if (m_generation.load(std::memory_order_acquire) != seen) return;
    relax(i);
  }
  std::unique_lock lock(m_mutex);
  m_sleeping.fetch_add(1, std::memory_order_seq_cst);
  m_wake.wait(lock, [&] { return m_generation.load(std::memory_order_seq_cst) != seen; });
  m_sleeping.fetch_sub(1, std::memory_order_relaxed);
}

void job_pool::work(int thread) {
  for (unsigned seen = 0;; ++seen) {
    wait_for_work(seen);
    if (m_stop) return;
    take_share(thread);
    m_running.fetch_sub(1, std::memory_order_release);
  }
}

}
