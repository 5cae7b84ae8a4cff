// SPDX-License-Identifier: MIT
#pragma once
/// The version of the library (the only place where it is written; CMake and Meson read it here) and the namespace that
/// carries it together with the instruction set, so that objects built differently never share a symbol.
#include <netsuke/config.hpp>

#define NSK_VERSION_MAJOR 0
#define NSK_VERSION_MINOR 1
#define NSK_VERSION_PATCH 0
#define NSK_VERSION_STRING "0.1.0"

/// Version of the file format that this engine reads and the converter writes (schema/CHANGES.md).
#define NSK_FORMAT_VERSION 1

#define NSK_IMPL_JOIN2(a, b, c, d) v##a##_##b##_##c##_##d
#define NSK_IMPL_JOIN(a, b, c, d) NSK_IMPL_JOIN2(a, b, c, d)
/// Inline namespace of everything in the library, for example `nsk::v0_1_0_avx2`.
#define NSK_ABI NSK_IMPL_JOIN(NSK_VERSION_MAJOR, NSK_VERSION_MINOR, NSK_VERSION_PATCH, NSK_ISA_NAME)

/// Open and close namespace nsk: `NSK_BEGIN` ... `NSK_END`; nested namespaces go inside.
#define NSK_BEGIN \
  namespace nsk { \
  inline namespace NSK_ABI {
#define NSK_END \
  }             \
  }
