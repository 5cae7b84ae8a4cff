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
  /// Bytes of memory that `run` needs for the model in `file`; 0 where the file is refused.
  std::size_t (*memory_bytes)(const std::byte* file, std::size_t size);
  /// Fills the first input with `value`, runs once in `memory` (aligned to 64 bytes) and copies up to `most` numbers of
  /// the first output to `result`. Returns how many, 0 where model or memory are refused.
  std::size_t (*run)(const std::byte* file, std::size_t size, std::byte* memory, std::size_t memory_size, float value,
                     float* result, std::size_t most);
};

extern const network scalar_network;
#if defined(__x86_64__) || defined(_M_X64)
extern const network avx2_network, avx512_network;
#elif defined(__aarch64__) || defined(_M_ARM64)
extern const network neon_network;
#endif

}  // namespace choose_isa
