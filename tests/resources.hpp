// SPDX-License-Identifier: MIT
#pragma once
/// What a piece of code takes from the machine: calls of the heap, bytes of stack. Include it in one source of a
/// program: it replaces malloc where NSK_TEST_COUNTS_HEAP is defined (glibc, no sanitizer).
#include <pthread.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define NSK_TEST_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NSK_TEST_SANITIZED
#endif

namespace test {
/// Calls of malloc, calloc, realloc and aligned_alloc by this thread.
inline thread_local long heap_calls = 0;

#if !defined(NSK_TEST_SANITIZED)
/// Returns the bytes of stack that a new thread touches when it runs `body(argument)`; its own start included.
inline std::size_t stack_of(void* (*body)(void*), void* argument) {
  constexpr std::size_t size = std::size_t{1} << 20, page = 4096;
  auto* base = static_cast<unsigned char*>(std::aligned_alloc(page, size));
  std::memset(base, 0xc3, size);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, base, size);
  pthread_t thread;
  std::size_t untouched = 0;
  if (pthread_create(&thread, &attributes, body, argument) == 0) {
    pthread_join(thread, nullptr);
    while (untouched < size && base[untouched] == 0xc3) ++untouched;
  }
  pthread_attr_destroy(&attributes);
  std::free(base);
  return size - untouched;
}
/// Returns the bytes of stack that `body(argument)` touches: stack_of(), less what an empty thread touches.
inline std::size_t own_stack_of(void* (*body)(void*), void* argument) {
  const std::size_t alone = stack_of([](void*) -> void* { return nullptr; }, nullptr), all = stack_of(body, argument);
  return all > alone ? all - alone : 0;
}
#endif
}

#if defined(__GLIBC__) && !defined(NSK_TEST_SANITIZED)
#define NSK_TEST_COUNTS_HEAP
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t n) {
  ++test::heap_calls;
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) {
  ++test::heap_calls;
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) {
  ++test::heap_calls;
  return __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  ++test::heap_calls;
  return __libc_memalign(alignment, n);
}
}
#endif
