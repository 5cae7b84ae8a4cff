// SPDX-License-Identifier: MIT
#pragma once
/// Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
/// 1, 2, 3" (2011). Integers only, so every machine computes the same.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

struct philox_block {
  std::uint32_t word[4];
};

/// Returns the four words that ten rounds make of a counter under a key (low word first).
inline philox_block philox(philox_block counter, std::uint64_t key) {
  auto low_key = static_cast<std::uint32_t>(key), high_key = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t* const c = counter.word;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53u} * c[0], b = std::uint64_t{0xcd9e8d57u} * c[2];
    c[0] = static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ low_key;
    c[1] = static_cast<std::uint32_t>(b);
    c[2] = static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ high_key;
    c[3] = static_cast<std::uint32_t>(a);
    low_key += 0x9e3779b9u;
    high_key += 0xbb67ae85u;
  }
  return counter;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
