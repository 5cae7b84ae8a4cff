// SPDX-License-Identifier: MIT
#pragma once
/// Settings with every operator and function of this version: where to begin, and for tools and tests. A game that
/// wants to be small lists its own (run/settings.hpp).
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/run/session.hpp>
#include <netsuke/netsuke.hpp>

NSK_BEGIN
struct all_settings : default_settings {
  using ops = all_ops;
  using functions = all_functions;
  static constexpr bool half_weights = true, int8_weights = true;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
