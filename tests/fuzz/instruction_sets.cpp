// SPDX-License-Identifier: MIT
// One file on every instruction set of this build: the same verdict, the same results. NSK_FUZZ_NATIVE,
// NSK_FUZZ_SCALAR, NSK_FUZZ_AVX2 and NSK_FUZZ_AVX512 say which there are.
#include "exercise.hpp"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fuzz {

outcome exercise_on_native(const std::uint8_t* data, std::size_t size);
outcome exercise_on_scalar(const std::uint8_t* data, std::size_t size);
outcome exercise_on_avx2(const std::uint8_t* data, std::size_t size);
outcome exercise_on_avx512(const std::uint8_t* data, std::size_t size);

namespace {
struct entry {
  const char* name;
  outcome (*exercise)(const std::uint8_t*, std::size_t);
};
const entry entries[] = {
#if defined(NSK_FUZZ_NATIVE)
    {"the native one", exercise_on_native},
#endif
#if defined(NSK_FUZZ_SCALAR)
    {"scalar", exercise_on_scalar},
#endif
#if defined(NSK_FUZZ_AVX2)
    {"AVX2", exercise_on_avx2},
#endif
#if defined(NSK_FUZZ_AVX512)
    {"AVX-512", exercise_on_avx512},
#endif
};
}

bool agree(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); i += 4) {
    const std::size_t n = a.size() - i < 4 ? a.size() - i : 4;
    if (std::memcmp(a.data() + i, b.data() + i, n) == 0) continue;
    float x = 0, y = 0;
    std::memcpy(&x, a.data() + i, n);
    std::memcpy(&y, b.data() + i, n);
    if (n < 4 || !std::isnan(x) || !std::isnan(y)) return false;
  }
  return true;
}

outcome exercise(const std::uint8_t* data, std::size_t size) {
  outcome first;
  bool any = false;
  for (const entry& e : entries) {
    outcome o = e.exercise(data, size);
    if (std::strncmp(o.verdict, "not run", 7) == 0) continue;
    if (!any) {
      first = std::move(o);
      any = true;
    } else if (o.opened != first.opened || !agree(o.results, first.results)) {
      std::fprintf(stderr, "%s and %s differ: %s, %s\n", entries[0].name, e.name, first.verdict, o.verdict);
      std::abort();
    }
  }
  return first;
}

}
