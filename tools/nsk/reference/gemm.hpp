// SPDX-License-Identifier: MIT
#pragma once
/// The matrix product that the reference's convolutions and dense layers share.
#include <cstdint>

namespace nsk::tool::reference {

/// c[m][n] += a[m][k] * b[k][n], row-major in double, with leading dimensions. Each element is one sum in the order of
/// k, so the result does not depend on the blocking, and no product is fused with its sum, so not on the machine
/// either.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double* c, std::int64_t ldc);

}
