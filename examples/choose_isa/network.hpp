// SPDX-License-Identifier: MIT
#pragma once
/// One network behind plain functions: network.inc is compiled once per instruction set, in a file of its own. Nothing
/// here depends on an instruction set, so the rest of the game includes this header only.
#include <cstddef>

namespace choose_isa {

/// One build of the network.
struct network {
  const char* name;
  /// Returns whether this machine can run it. Ask before anything else.
  bool (*usable)();
  /// Reports how many bytes of memory `run` needs for the model in `file`. Returns null, or why the file is refused.
  const char* (*ask_memory)(const std::byte* file, std::size_t size, std::size_t& bytes);
  /// Fills the first input with `value`, runs once in `memory` (aligned to 64 bytes) and copies the first numbers of
  /// the first output to `result`, `count` at most; `count` becomes how many. Returns null, or why model or memory are
  /// refused.
  const char* (*run)(const std::byte* file, std::size_t size, std::byte* memory, std::size_t memory_size, float value,
                     float* result, std::size_t& count);
};

extern const network scalar_network;
#if defined(__x86_64__) || defined(_M_X64)
extern const network avx2_network, avx512_network;
#elif defined(__aarch64__) || defined(_M_ARM64)
extern const network neon_network;
#endif

}  // namespace choose_isa
