// SPDX-License-Identifier: MIT
#pragma once
/// Small files, which the engine expands (netsuke/prepare.hpp). shrink/ writes them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nsk::tool {

/// Whether these are the bytes of a small file.
bool is_small(const std::vector<std::byte>& bytes);
/// Returns the file that a small one expands to. Refuses damaged ones; `name` is what the message calls it.
std::vector<std::byte> expand(const std::vector<std::byte>& small, const std::string& name);

/// What the parts of one kind take.
struct small_share {
  std::string what;  ///< "weights in float16"
  std::uint64_t stored = 0, bytes = 0;
};
/// Of a small file, the largest first.
std::vector<small_share> shares_of(const std::vector<std::byte>& small);

}
