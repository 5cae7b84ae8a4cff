// SPDX-License-Identifier: MIT
#pragma once
/// Counts every allocation of C++ in the program. For one file of it: operators new and delete are defined here.
#include <cstddef>
#include <cstdlib>
#include <new>

namespace example {

/// How many there have been.
inline std::size_t& allocations() {
  static std::size_t count = 0;
  return count;
}

}  // namespace example

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++example::allocations();
  if (void* p = std::malloc(bytes)) return p;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
