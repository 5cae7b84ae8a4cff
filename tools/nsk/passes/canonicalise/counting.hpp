// SPDX-License-Identifier: MIT
#pragma once
/// Counts of chosen elements, in float32: exact up to 2^24.
#include <string>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// Sums of x [n] over all elements up to each one, in blocks: those within a block, and the sums of blocks before it.
/// Exact for whole numbers up to 2^24.
int running_sums(context& c, int x, std::int64_t n, const std::string& suffix = "");
/// Places (int64 [n]) of the chosen ones among themselves, n for all others; `mask` is boolean [n].
int places_of_chosen(context& c, int mask, std::int64_t n);

}
