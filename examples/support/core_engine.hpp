// SPDX-License-Identifier: MIT
#pragma once
/// Kernels of the settings that most examples use are compiled once, in core_engine.cpp. CMake includes this header in
/// front of those examples; compiled by hand, each example compiles its own kernels.
#include <netsuke/all_ops.hpp>

/// Instantiates what session<settings> runs, on one thread or on lanes; storage `extern` says that another file does.
#define EXAMPLE_ENGINE(storage, settings)                                                                              \
  storage template void nsk::impl::run_lane<settings>(const nsk::impl::memory_map&, const nsk::step_view&, std::byte*, \
                                                      nsk::impl::serial_tiles&);                                       \
  storage template void nsk::impl::run_lane<settings>(const nsk::impl::memory_map&, const nsk::step_view&, std::byte*, \
                                                      nsk::impl::lane_tiles&);

#if !defined(EXAMPLE_ENGINE_HERE)
EXAMPLE_ENGINE(extern, nsk::default_settings)
EXAMPLE_ENGINE(extern, nsk::all_settings)
#endif
