// SPDX-License-Identifier: MIT
#pragma once
/// Tables of 256 bytes, looked up by the byte shuffles of x86, whatever the width of registers.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/version.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace simd {
namespace impl {
/// Rows of 16 entries; from the second one of each half of 8 rows on, its exclusive or with the row before.
inline void differences_of_rows(const std::uint8_t* entries, std::uint8_t* table) {
  for (int i = 0; i < 256; ++i)
    table[i] = static_cast<std::uint8_t>(i % 128 < 16 ? entries[i] : entries[i] ^ entries[i - 16]);
}

/// Looks up the bytes of a register in such rows. An index goes down by 16 from row to row, and a shuffle gives 0 once
/// it is negative: of what differs, all up to its own row has been added up. `Words` names the instructions:
/// all(byte), row(16 bytes), shuffle(row, indices), xor_(a, b), and subtract(a, b) of signed bytes, which saturates.
template <class Words>
NSK_INLINE typename Words::reg look_up_rows(const std::uint8_t* table, typename Words::reg x) {
  const typename Words::reg row = Words::all(16);
  typename Words::reg low = x, high = Words::xor_(x, Words::all(-128)), sum = Words::all(0);
  for (int i = 0; i < 8; ++i) {
    sum = Words::xor_(sum, Words::shuffle(Words::row(table + 16 * i), low));
    sum = Words::xor_(sum, Words::shuffle(Words::row(table + 16 * (i + 8)), high));
    low = Words::subtract(low, row);
    high = Words::subtract(high, row);
  }
  return sum;
}
}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
