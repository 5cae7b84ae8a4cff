// SPDX-License-Identifier: MIT
// Runs a dispatch of a shader that is C++: group after group, the threads of a group one after the other from barrier
// to barrier. Threads that wait are fibers with stacks of their own.
#include <ucontext.h>

#include "shader_runtime.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NSK_SHADER_ASAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define NSK_SHADER_ASAN
#endif
#if defined(NSK_SHADER_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

namespace nsk_shader {

namespace {

constexpr uint group_threads = 64;

class fibers {
 public:
  static fibers& get() {
    static fibers f;
    return f;
  }

  /// Runs all threads of a group; `reversed`: from the last to the first, between barriers.
  void run(const kernel_body& kernel, uint3 group, int first_thread, bool reversed) {
    m_kernel = &kernel;
    m_group = group;
    m_first_thread = first_thread;
    for (uint i = 0; i < group_threads; ++i) prepare(i);
    for (uint living = group_threads; living > 0;) {
      const uint before = living;
      for (uint n = 0; n < group_threads; ++n) {
        const uint i = reversed ? group_threads - 1 - n : n;
        if (m_ended[i]) continue;
        resume(i);
        living -= m_ended[i] ? 1 : 0;
      }
      if (living != 0 && living != before) memory_report().add("a thread has ended while others of its group wait");
    }
  }
  /// Called by a thread: goes on when all others are here.
  void wait() {
    leave(m_running, true);
    current_thread = m_first_thread;  // threads of a group that waits are ordered by it: they count as one
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 18;

  fibers() {
    for (auto& s : m_stack) s.resize(stack_bytes);
  }
  void prepare(uint i) {
    m_ended[i] = false;
    getcontext(&m_context[i]);
    m_context[i].uc_stack.ss_sp = m_stack[i].data();
    m_context[i].uc_stack.ss_size = stack_bytes;
    m_context[i].uc_link = nullptr;
    makecontext(&m_context[i], &fibers::start, 0);
  }
  static void start() { get().body(); }
  void body() {
    arrived(nullptr);
    m_kernel->run(m_group, uint3(m_running, 0, 0));
    m_ended[m_running] = true;
    leave(m_running, false);
  }
  void resume(uint i) {
    m_running = i;
    current_thread = m_first_thread;
#if defined(NSK_SHADER_ASAN)
    void* own = nullptr;
    __sanitizer_start_switch_fiber(&own, m_stack[i].data(), stack_bytes);
#endif
    swapcontext(&m_scheduler, &m_context[i]);
#if defined(NSK_SHADER_ASAN)
    __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
  }
  /// Back to the scheduler; `returns`: the thread will go on.
  void leave(uint i, [[maybe_unused]] bool returns) {
    [[maybe_unused]] void* own = nullptr;
#if defined(NSK_SHADER_ASAN)
    __sanitizer_start_switch_fiber(returns ? &own : nullptr, m_scheduler_stack, m_scheduler_bytes);
#endif
    swapcontext(&m_context[i], &m_scheduler);
    arrived(own);
  }
  void arrived([[maybe_unused]] void* own) {
#if defined(NSK_SHADER_ASAN)
    __sanitizer_finish_switch_fiber(own, &m_scheduler_stack, &m_scheduler_bytes);
#endif
  }

  const kernel_body* m_kernel = nullptr;
  uint3 m_group;
  int m_first_thread = 0;
  uint m_running = 0;
  bool m_ended[group_threads] = {};
  ucontext_t m_scheduler{}, m_context[group_threads]{};
  std::vector<std::byte> m_stack[group_threads];
  const void* m_scheduler_stack = nullptr;
  std::size_t m_scheduler_bytes = 0;
};

}

void wait_for_group() { fibers::get().wait(); }

void run_dispatch(const kernel_body& kernel, const std::uint32_t* constants, int count, uint3 groups, bool reversed) {
  ++current_dispatch;
  if (static_cast<std::size_t>(count) * 4 != kernel.constant_bytes)
    memory_report().add("the kernel has " + std::to_string(kernel.constant_bytes / 4) + " constants, not " +
                        std::to_string(count));
  std::memcpy(kernel.constants, constants, std::min(static_cast<std::size_t>(count) * 4, kernel.constant_bytes));
  const uint all = groups.x * groups.y * groups.z;
  for (uint n = 0; n < all; ++n) {
    const uint i = reversed ? all - 1 - n : n;
    const uint3 group(i % groups.x, i / groups.x % groups.y, i / groups.x / groups.y);
    const int first = static_cast<int>(i * group_threads);
    if (kernel.waits) {
      fibers::get().run(kernel, group, first, reversed);
      continue;
    }
    for (uint t = 0; t < group_threads; ++t) {
      const uint local = reversed ? group_threads - 1 - t : t;
      current_thread = first + static_cast<int>(local);
      kernel.run(group, uint3(local, 0, 0));
    }
  }
}

}
