// SPDX-License-Identifier: MIT
#pragma once
/// Budgets of one call: time for feel, work for the same cut on every machine.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/version.hpp>

NSK_BEGIN
struct microseconds {
  std::int64_t count;
};

/// Multiply-accumulates (elements, for steps that multiply nothing).
struct work {
  std::uint64_t macs;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
