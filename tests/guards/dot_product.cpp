// SPDX-License-Identifier: MIT
// Prints 1 where the library takes this machine for one with dot products, else 0. The systems' functions that it asks
// are answered here, with NSK_GUARD_ANSWER.
#include <netsuke/simd/isa.hpp>
#include <cstdio>
#include <cstring>

#if defined(_WIN32)
extern "C" int IsProcessorFeaturePresent(unsigned long feature) { return feature == 43 ? NSK_GUARD_ANSWER : 0; }
#elif defined(__APPLE__)
extern "C" int sysctlbyname(const char* name, void* to, std::size_t* bytes, void*, std::size_t) {
  const int answer = NSK_GUARD_ANSWER;
  if (std::strcmp(name, "hw.optional.arm.FEAT_DotProd") != 0 || *bytes != sizeof answer || answer < 0) return -1;
  std::memcpy(to, &answer, sizeof answer);
  return 0;
}
#endif

int main() { std::printf("%d\n", nsk::simd::has_native_dot4() ? 1 : 0); }
