// SPDX-License-Identifier: MIT
// Prints a hash of products and sums written as separate operations of the vector vocabulary: it changes as soon as a
// compiler fuses one product with one sum. Prints "unsupported" where cpu_supports() refuses this build.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <netsuke/simd/vec.hpp>

NSK_BEGIN
namespace contraction {
#include <netsuke/simd/begin.hpp>
inline void products_and_sums(const float* a, const float* b, const float* c, float* y, int count) {
  using namespace simd;
  for (int i = 0; i < count; i += f32::lanes) {
    const f32 first = add(mul(load(a + i), load(b + i)), load(c + i));
    store(y + i, sub(mul(first, load(b + i)), load(a + i)));
  }
}
#include <netsuke/simd/end.hpp>
}
NSK_END

int main() {
  if (!nsk::cpu_supports()) {
    std::puts("unsupported");
    return 0;
  }
  constexpr int count = 4096;
  static float a[count], b[count], c[count], y[count];
  std::uint32_t state = 1;
  auto next = [&state] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  };
  for (int i = 0; i < count; ++i) {
    a[i] = next();
    b[i] = next();
    c[i] = next();
  }
  nsk::contraction::products_and_sums(a, b, c, y, count);
  std::uint64_t hash = 1469598103934665603u;
  for (float value : y) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
