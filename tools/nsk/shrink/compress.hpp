// SPDX-License-Identifier: MIT
#pragma once
/// Compression of what is no weights: tables, index lists, zeros.
#include <cstddef>
#include <vector>
#include <netsuke/core/span.hpp>

namespace nsk::tool {

/// Returns `bytes` as an LZ4 block (lz4.org, "LZ4 Block Format"), which netsuke/model/impl/decompress.hpp expands;
/// distances have two bytes, or three. Copies are the longest that few looks find: a second per 100 MB.
std::vector<std::byte> compress(span<const std::byte> bytes, std::size_t distance_size = 2);

}
