// SPDX-License-Identifier: MIT
#pragma once
/// Asserts report mistakes of the caller (a wrong type asked of an input, run before bind). Bad files never assert:
/// they give a status.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/version.hpp>

#if !defined(NSK_ASSERT)
#if defined(NDEBUG)
#define NSK_ASSERT(condition, text) ((void)0)
#elif defined(_MSC_VER) && !defined(__clang__)
#define NSK_ASSERT(condition, text) ((condition) ? (void)0 : __debugbreak())
#else
#define NSK_ASSERT(condition, text) ((condition) ? (void)0 : __builtin_trap())
#endif
#endif
#include <netsuke/core/restore_macros.hpp>
