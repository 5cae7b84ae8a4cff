// SPDX-License-Identifier: MIT
#pragma once
/// Kernels of the settings that most examples use are compiled once, in core_engine.cpp. CMake includes this header in
/// front of those examples; compiled by hand, each example compiles its own kernels.
#include <netsuke/all_ops.hpp>

#if !defined(EXAMPLE_ENGINE_HERE)
NSK_KERNELS(extern, nsk::default_settings)
NSK_KERNELS(extern, nsk::all_settings)
#endif
