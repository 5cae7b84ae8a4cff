// SPDX-License-Identifier: MIT
#pragma once
/// The kernels of a network in a file of their own, so that they are compiled once, and optimised where a debug build
/// leaves the rest as it is (clang's code is 300 times slower at -O0).
///
///     NSK_KERNELS(extern, face_settings)  // face.hpp, which every user of nsk::session<face_settings> includes
///     NSK_KERNELS(, face_settings)        // face.cpp
///
/// nsk_add_network of CMake writes both files (docs/guide/embedding.md).
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/run/impl/jobs.hpp>
#include <netsuke/run/impl/lane.hpp>
#include <netsuke/run/impl/serial.hpp>

/// Instantiates what a session of `settings` runs, on one thread and on lanes. With `extern` as storage, another file
/// has it; with nothing, this one. Stands outside of namespaces. nsk::open<settings> is not part of it.
#define NSK_KERNELS(storage, settings)                                                                                 \
  storage template void nsk::impl::run_lane<settings>(const nsk::impl::memory_map&, const nsk::step_view&, std::byte*, \
                                                      nsk::impl::serial_tiles&);                                       \
  storage template void nsk::impl::run_lane<settings>(const nsk::impl::memory_map&, const nsk::step_view&, std::byte*, \
                                                      nsk::impl::lane_tiles&);
#include <netsuke/core/restore_macros.hpp>
