// SPDX-License-Identifier: MIT
#include "reference/gemm.hpp"

#include <algorithm>

// A wider clone is chosen at start-up where the machine has it and the system's loader can. Products are rounded before
// they are added in all of them (-ffp-contract=off): every machine writes the same files.
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define NSK_REFERENCE_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define NSK_REFERENCE_CLONES
#endif

namespace nsk::tool::reference {
namespace {

constexpr std::int64_t tile_rows = 4, tile_columns = 8, block_depth = 256;

struct operands {
  const double* a;
  std::int64_t lda;
  const double* b;
  std::int64_t ldb;
  double* c;
  std::int64_t ldc;
};

/// One 4 x 8 tile of c over `depth` steps, its sums kept in registers.
NSK_REFERENCE_CLONES void full_tile(std::int64_t depth, const operands& o) {
  double sum[tile_rows][tile_columns];
  for (std::int64_t i = 0; i < tile_rows; ++i)
    for (std::int64_t j = 0; j < tile_columns; ++j) sum[i][j] = o.c[i * o.ldc + j];
  for (std::int64_t p = 0; p < depth; ++p) {
    const double* b = o.b + p * o.ldb;
    for (std::int64_t i = 0; i < tile_rows; ++i) {
      const double a = o.a[i * o.lda + p];
      for (std::int64_t j = 0; j < tile_columns; ++j) sum[i][j] += a * b[j];
    }
  }
  for (std::int64_t i = 0; i < tile_rows; ++i)
    for (std::int64_t j = 0; j < tile_columns; ++j) o.c[i * o.ldc + j] = sum[i][j];
}

/// One tile of c that an edge cuts to `rows` x `columns`, over `depth` steps.
void edge_tile(std::int64_t rows, std::int64_t columns, std::int64_t depth, const operands& o) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t p = 0; p < depth; ++p)
      for (std::int64_t j = 0; j < columns; ++j) o.c[i * o.ldc + j] += o.a[i * o.lda + p] * o.b[p * o.ldb + j];
}

}

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double* c, std::int64_t ldc) {
  for (std::int64_t p = 0; p < k; p += block_depth) {
    const std::int64_t depth = std::min(block_depth, k - p);
    for (std::int64_t j = 0; j < n; j += tile_columns) {
      for (std::int64_t i = 0; i < m; i += tile_rows) {
        const operands o{a + i * lda + p, lda, b + p * ldb + j, ldb, c + i * ldc + j, ldc};
        if (m - i >= tile_rows && n - j >= tile_columns)
          full_tile(depth, o);
        else
          edge_tile(std::min(tile_rows, m - i), std::min(tile_columns, n - j), depth, o);
      }
    }
  }
}

}
