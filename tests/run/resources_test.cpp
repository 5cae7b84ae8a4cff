// SPDX-License-Identifier: MIT
// What a run takes from the machine: no heap, and little stack.
#include <doctest/doctest.h>
#include <pthread.h>
#include "support.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define NSK_TEST_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NSK_TEST_SANITIZED
#endif

namespace {
using test::opened;

/// Everything from the bytes to the second result.
void use(test::opened& o, float* result) {
  nsk::model m;
  const nsk::status s = nsk::open({o.file.data(), o.file.size()}, m, {true});
  nsk::session<> net(m, o.memory.span());
  if (!s || !net) return;
  for (int i = 0; i < net.input_count(); ++i) {
    const nsk::span<std::byte> bytes = net.input_bytes(i);
    std::memset(bytes.data(), 0x3e, bytes.size());
  }
  net.run();
  test::ordered_jobs jobs;
  net.run(jobs);
  while (!net.step(nsk::work{1})) {
  }
  *result = net.output<float>(0)[0];
}
}

#if defined(__GLIBC__) && !defined(NSK_TEST_SANITIZED)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}
namespace {
thread_local long heap_calls = 0;
}
extern "C" {
void* malloc(std::size_t n) {
  ++heap_calls;
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) {
  ++heap_calls;
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) {
  ++heap_calls;
  return __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  ++heap_calls;
  return __libc_memalign(alignment, n);
}
}

TEST_CASE("resources: not one heap call from open to the end of the last run") {
  const long before = heap_calls;
  char* volatile block = new char[100];
  delete[] block;
  REQUIRE(heap_calls > before);  // the hook works
  for (const test::plan_spec& plan : {test::make_cnn().plan, test::make_mixed(), test::make_recurrent(false, true)}) {
    opened o(plan);
    REQUIRE(o.status);
    float result = -1;
    const long start = heap_calls;
    use(o, &result);
    const long end = heap_calls;
    CHECK(end == start);
    CHECK(result != -1);
  }
}
#else
TEST_CASE("resources: not one heap call from open to the end of the last run") {
  MESSAGE("heap calls are counted with glibc and without sanitizers only: not counted in this build");
}
#endif

#if !defined(NSK_TEST_SANITIZED)
namespace {
struct painted_run {
  opened* o;
  float result;
};
void* run_painted(void* argument) {
  auto* p = static_cast<painted_run*>(argument);
  use(*p->o, &p->result);
  return nullptr;
}
void* run_nothing(void*) { return nullptr; }

/// Bytes of its stack that a thread touches.
std::size_t stack_of(void* (*body)(void*), void* argument) {
  constexpr std::size_t size = std::size_t{1} << 20;
  test::aligned_bytes stack(size + 8192, std::byte{0xc3});
  std::byte* base = stack.data() + (4096 - reinterpret_cast<std::uintptr_t>(stack.data()) % 4096);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, base, size);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, body, argument) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  std::size_t untouched = 0;
  while (untouched < size && base[untouched] == std::byte{0xc3}) ++untouched;
  return size - untouched;
}
}

TEST_CASE("resources: at most 32 KiB of stack from open to the end of the last run") {
  const std::size_t thread_alone = stack_of(run_nothing, nullptr);
  for (const test::plan_spec& plan : {test::make_cnn().plan, test::make_mixed()}) {
    opened o(plan);
    painted_run p{&o, -1};
    const std::size_t all = stack_of(run_painted, &p);
    REQUIRE(p.result != -1);
    MESSAGE("stack: ", all - thread_alone, " bytes");
    CHECK(all - thread_alone <= 32 * 1024);
  }
}
#endif
