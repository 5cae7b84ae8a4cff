// SPDX-License-Identifier: MIT
// The assertion beside a header of the system.
#if defined(BEFORE)
#include BEFORE
#endif
#include <netsuke/core/span.hpp>
#include <netsuke/core/status.hpp>
#if defined(AFTER)
#include AFTER
#endif

int main(int argc, char**) {
  int numbers[2] = {};
  return nsk::span<int>(numbers)[static_cast<std::size_t>(argc)];
}
