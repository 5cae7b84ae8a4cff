// SPDX-License-Identifier: MIT
#pragma once
/// Prefix codes of bytes (D. A. Huffman, "A Method for the Construction of Minimum-Redundancy Codes", 1952), as
/// netsuke/model/impl/stored_bytes.hpp reads them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>
#include <netsuke/core/span.hpp>
#include <netsuke/format/small_file.hpp>

namespace nsk::tool {

/// How often each byte occurs.
using byte_counts = std::array<std::uint64_t, 256>;
byte_counts count_bytes(span<const std::byte> bytes);

/// The shortest code with at most max_code_bits bits for each byte that occurs; at least two bytes have one.
class prefix_code {
 public:
  explicit prefix_code(const byte_counts& counts);

  /// Bytes of begin_codes() and the codes of `bytes`; nothing that can be stored where one has no code.
  std::uint64_t size_of(span<const std::byte> bytes, code_source from) const;
  /// What a part stores of `bytes`, all of which have codes.
  std::vector<std::byte> encode(span<const std::byte> bytes, code_source from) const;

 private:
  std::array<int, 256> m_lengths = {};
  std::array<std::uint32_t, 256> m_codes = {};
};

}
