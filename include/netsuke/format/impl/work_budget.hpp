// SPDX-License-Identifier: MIT
#pragma once
/// How much work opening a file may be: a multiple of its bytes.
///
/// A file can make any number of tables refer to one list, and ask for comparisons of all steps with all others. Both
/// would make opening quadratic, so every part of the verifier takes what it is about to do from one budget. A unit is
/// about half a nanosecond.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/version.hpp>

NSK_BEGIN
namespace impl {

/// Units for a file of any size, for each byte of its table, and for each byte of its weights. A file in which each
/// list belongs to one table needs less than half of them.
inline constexpr std::uint64_t work_of_any_file = std::uint64_t{1} << 23;
inline constexpr std::uint64_t work_per_table_byte = 32;
inline constexpr std::uint64_t work_per_weights_byte = 8;

/// Units of: a table of any kind, a byte of a list, what is verified of a tensor and of a step besides, a look at a
/// step or buffer in search of one, a comparison of two regions of a buffer and of two buffers, and a number among the
/// weights.
inline constexpr std::uint64_t table_work = 256;
inline constexpr std::uint64_t list_byte_work = 8;
inline constexpr std::uint64_t tensor_work = 128;
inline constexpr std::uint64_t step_work = 256;
inline constexpr std::uint64_t search_work = 8;
inline constexpr std::uint64_t region_work = 192;
inline constexpr std::uint64_t buffer_work = 2;
inline constexpr std::uint64_t number_work = 2;
/// Of a pair of terms of a tensor, and of the places of a step's output where lengths change them.
inline constexpr std::uint64_t term_work = 8;
inline constexpr std::uint64_t places_work = 4096;

class work_budget {
 public:
  explicit work_budget(std::uint64_t units) : m_left(units) {}

  static work_budget of_file(std::uint64_t table_bytes, std::uint64_t weights_bytes) {
    return work_budget(work_of_any_file + work_per_table_byte * table_bytes + work_per_weights_byte * weights_bytes);
  }
  /// Returns whether there were so many units; where there were not, none remain.
  bool spend(std::uint64_t units) {
    const bool enough = units <= m_left;
    m_left = enough ? m_left - units : 0;
    return enough;
  }
  std::uint64_t left() const { return m_left; }

 private:
  std::uint64_t m_left;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
