// SPDX-License-Identifier: MIT
// What stands before the library where another compiler plays Visual C++: headers of others, read as that compiler
// needs them; then the macros and words by which the library knows Visual C++. NSK_GUARD_ARM64 makes it one for Arm.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#define FLATBUFFERS_ASSERT(condition) static_cast<void>(condition)
#include <flatbuffers/base.h>
#include <flatbuffers/buffer.h>
#include <flatbuffers/string.h>
#include <flatbuffers/table.h>
#include <flatbuffers/vector.h>
#include <flatbuffers/verifier.h>
#if !defined(NSK_GUARD_ARM64)
#include <immintrin.h>
#endif

#undef __GNUC__
#undef __clang__
#undef __clang_major__
#undef __x86_64__
#undef __aarch64__
#undef __linux__
#undef __unix__
#define _MSC_VER 1940
#define _WIN32 1
#if defined(NSK_GUARD_ARM64)
#define _M_ARM64 1
#else
#define _M_X64 100
#endif

// Words of its language, and the one function that it knows without a header.
#define __int64 long long
#define __forceinline inline
#define __stdcall
#define __declspec(what)
extern "C" void __debugbreak();
