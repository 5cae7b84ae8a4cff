// SPDX-License-Identifier: MIT
#pragma once
/// Tables of bytes as the byte shuffles of x86 look them up.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/version.hpp>

NSK_BEGIN
namespace simd {
namespace impl {
/// Rows of 16 entries; from the second one of each half of 8 rows on, its exclusive or with the row before.
inline void differences_of_rows(const std::uint8_t* entries, std::uint8_t* table) {
  for (int i = 0; i < 256; ++i)
    table[i] = static_cast<std::uint8_t>(i % 128 < 16 ? entries[i] : entries[i] ^ entries[i - 16]);
}
}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
