// SPDX-License-Identifier: MIT
#pragma once
/// The trace hook: a type with begin(step) and end(step), named by a settings type as `profiler`. A session holds one
/// object of it.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
/// Does nothing, costs nothing. Write your own with the same two functions (static or not); they are called on the
/// thread that drives the session, around each part of a step that runs without interruption.
struct no_profiler {
  static void begin(int /*step*/) {}
  static void end(int /*step*/) {}
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
