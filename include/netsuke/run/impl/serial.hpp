// SPDX-License-Identifier: MIT
#pragma once
/// Tiles for one thread.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
namespace impl {

/// The tiles [next, end), in order.
struct serial_tiles {
  std::int32_t next, end;
  std::int32_t take() { return next < end ? next++ : -1; }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
