// SPDX-License-Identifier: MIT
#pragma once
/// What every fuzzer here does with bytes: expands small files, opens them, and runs what opens, on each instruction
/// set that is built in. Every byte outside of the file and the arena is the sanitizers' to guard; inside of the arena
/// memory is filled differently from run to run, and steps run alone among poison (isolated_steps.hpp).
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

/// What became of a file.
struct outcome {
  const char* verdict = "";        ///< what prepare or open said
  bool opened = false;             ///< whether it opened
  std::vector<std::byte> results;  ///< outputs of runs; empty where the network would take more than some milliseconds
                                   ///< or 16 MiB, and is opened only
};

/// Opens and runs on every instruction set of this build that the machine has; ends the program where results differ,
/// or depend on anything else than the file and the inputs.
outcome exercise(const std::uint8_t* data, std::size_t size);

/// Whether two results have equal bytes, except that any NaN equals any other: their payloads are not promised.
bool agree(const std::vector<std::byte>& a, const std::vector<std::byte>& b);

}
