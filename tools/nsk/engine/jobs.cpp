// SPDX-License-Identifier: MIT
#include "engine/jobs.hpp"

namespace nsk::tool {
namespace {
/// Polls before a worker sleeps: steps follow each other within microseconds.
constexpr int polls = 4000;
}

job_pool::job_pool(int threads) {
  for (int i = 1; i < threads; ++i) m_threads.emplace_back([this] { work(); });
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

void job_pool::take_all(call function, void* context, int count) {
  for (int i = m_next.fetch_add(1, std::memory_order_relaxed); i < count;
       i = m_next.fetch_add(1, std::memory_order_relaxed))
    function(context, i);
}

void job_pool::run(int count, call function, void* context) {
  if (m_threads.empty() || count <= 1) {
    for (int i = 0; i < count; ++i) function(context, i);
    return;
  }
  {
    const std::lock_guard lock(m_mutex);
    m_function = function;
    m_context = context;
    m_count = count;
    m_next.store(0, std::memory_order_relaxed);
    m_running.store(static_cast<int>(m_threads.size()), std::memory_order_relaxed);
    m_generation.fetch_add(1, std::memory_order_release);
  }
  m_wake.notify_all();
  take_all(function, context, count);
  while (m_running.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

void job_pool::work() {
  unsigned seen = 0;
  for (;;) {
    for (int i = 0; i < polls && m_generation.load(std::memory_order_acquire) == seen; ++i) std::this_thread::yield();
    call function;
    void* context;
    int count;
    {
      std::unique_lock lock(m_mutex);
      m_wake.wait(lock, [&] { return m_generation.load(std::memory_order_relaxed) != seen; });
      seen = m_generation.load(std::memory_order_relaxed);
      if (m_stop) return;
      function = m_function;
      context = m_context;
      count = m_count;
    }
    take_all(function, context, count);
    m_running.fetch_sub(1, std::memory_order_release);
  }
}

}
