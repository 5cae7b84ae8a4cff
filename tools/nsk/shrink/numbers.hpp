// SPDX-License-Identifier: MIT
#pragma once
/// The smallest storage of a matrix of weights that gives back the same float32, whatever the source called them.
#include <cstddef>
#include <cstdint>
#include <vector>
#include <netsuke/format/small_file.hpp>

namespace nsk::tool {

/// Whether the weights of panels, biases aside, are all numbers that can be stored as `number` and come back bit by
/// bit.
bool are_numbers(stored_number number, const float* panels, std::int64_t channels, std::int64_t depth);

/// Stores float32 panels of `channels` columns and `depth` rows as a small file does (netsuke/format/small_file.hpp):
/// of float32, float16 and bytes, each with and without zeros, the smallest. Sets numbers, sparse and stored_bytes of
/// `part`, and appends what it stores.
void store_panels(const float* panels, std::int64_t channels, std::int64_t depth, small_part& part,
                  std::vector<std::byte>& stored);

}
