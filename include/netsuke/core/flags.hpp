// SPDX-License-Identifier: MIT
#pragma once
/// What the data of an inference can make necessary: recorded in session::flags(), never silent, never undefined.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/atomic.hpp>

NSK_BEGIN
/// Bits of session::flags().
enum run_flag : std::uint32_t {
  index_clamped = 1,     ///< an index pointed outside its axis and was clamped to the nearest end
  division_by_zero = 2,  ///< an integer was divided by zero; the result is 0
  output_truncated = 4,  ///< more results than the output has rows: the first ones were kept
  length_clamped = 8     ///< a step counted fewer or more than the plan has tensors for: the nearest number was taken
};

/// Adds `flag` to the flags at `flags`; any number of lanes may do so at once.
inline void raise(std::uint32_t* flags, run_flag flag) {
#if defined(_MSC_VER) && !defined(__clang__)
  _InterlockedOr(reinterpret_cast<volatile long*>(flags), static_cast<long>(flag));
#else
  __atomic_fetch_or(flags, static_cast<std::uint32_t>(flag), __ATOMIC_RELAXED);
#endif
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
