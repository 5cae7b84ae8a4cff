// SPDX-License-Identifier: MIT
#pragma once
/// FlatBuffers' own asserts go through NSK_ASSERT, unless the program has included FlatBuffers before netsuke, or says
/// with FLATBUFFERS_ASSERT where they go.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/assert.hpp>

#if !defined(FLATBUFFERS_ASSERT)
#define FLATBUFFERS_ASSERT(...) NSK_ASSERT((__VA_ARGS__), "FlatBuffers: " #__VA_ARGS__)
#endif
#include <netsuke/core/restore_macros.hpp>
