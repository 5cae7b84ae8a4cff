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

/// The largest weight of a channel that has numbers of scaled_float16 is at least so large: all are exact float32.
inline constexpr float min_scaled = 0x1p-100f;
/// The power of two by which a largest weight becomes a float16 below 2^15.
float scale_of_halves(float largest);

/// Stores float32 panels of `channels` columns and `depth` rows as a small file does (netsuke/format/small_file.hpp):
/// of float32, float16, with a scale for each channel too, and bytes, each with and without zeros, the smallest. Sets
/// numbers, flags and stored_bytes of `part`, and appends what it stores.
void store_panels(const float* panels, std::int64_t channels, std::int64_t depth, small_part& part,
                  std::vector<std::byte>& stored);

}
