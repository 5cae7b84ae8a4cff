// SPDX-License-Identifier: MIT
#pragma once
/// What every fuzzer here does with bytes: expands small files, opens them, and runs what opens, twice, with memory
/// that was filled differently. Any read or write outside shows in the sanitizers; a read of something that nobody
/// wrote shows in results that differ.
#include <cstddef>
#include <cstdint>
#include <netsuke/core/status.hpp>

namespace fuzz {

/// Opens and runs; aborts where results depend on anything else than the file. Returns what open said. Networks that
/// would take more than some milliseconds or 16 MiB are opened only.
nsk::status exercise(const std::uint8_t* data, std::size_t size);

}
