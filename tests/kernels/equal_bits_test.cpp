// SPDX-License-Identifier: MIT
#include <cstring>
#include <doctest/doctest.h>
#include "equal_bits.hpp"

#if defined(__x86_64__) || defined(__aarch64__) || defined(__wasm_simd128__)
TEST_CASE("kernels: the scalar and the vector build give the same bits, and share no symbol") {
  const std::vector<bits_case> scalar = results_scalar(), vector = results_vector();
  REQUIRE(scalar.size() == vector.size());
  for (std::size_t i = 0; i < scalar.size(); ++i) {
    CAPTURE(scalar[i].name);
    const std::vector<float>&a = scalar[i].result, &b = vector[i].result;
    REQUIRE(a.size() == b.size());
    // NaN agrees in place; its payload may differ.
    int different = 0;
    for (std::size_t j = 0; j < a.size(); ++j)
      different += a[j] != a[j] ? b[j] == b[j] : std::memcmp(&a[j], &b[j], 4) != 0;
    CHECK(different == 0);
  }
}
#endif
