// SPDX-License-Identifier: MIT
#pragma once
/// Names of files that wait for their place.
#include <cstdint>
#include <random>
#include <string>

#include "io/system/paths.hpp"

namespace nsk::tool {

inline constexpr int max_names = 100;  ///< that are tried

/// Returns the directory that a file is in.
inline std::string directory_of(const std::string& path) {
  const std::string parent = utf8_of(path_of(path).parent_path());
  return parent.empty() ? "." : parent;
}

/// Returns a name beside `target` that no other process chooses. `process` is the number of this one.
inline std::string waiting_name(const std::string& target, std::uint64_t process) {
  static std::mt19937_64 numbers(std::random_device{}() ^ process << 32);
  constexpr char digits[] = "0123456789abcdef";
  std::string name = ".nsk-";
  for (std::uint64_t bits = numbers(), i = 0; i < 16; ++i, bits >>= 4) name += digits[bits & 15];
  return directory_of(target) + "/" + name + ".tmp";
}

}
