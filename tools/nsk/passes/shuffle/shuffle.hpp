// SPDX-License-Identifier: MIT
#pragma once
#include "program/program.hpp"

namespace nsk::tool {

/// Lets convolutions read the channels of a shuffle (ShuffleNet) where they were before it, where no copy of the whole
/// shuffle is left. A convolution of 1x1 that reads all channels has its weights in another order; one that reads a
/// part, which is one run of channels of each group, has a window as wide as there are groups, over pixels that are as
/// wide as a group. A depthwise convolution between the two is computed before the shuffle. Parts that others read
/// stay copies of their own. Sums of products take another order, and so have other bits than behind the shuffle.
void read_before_shuffles(program& p);

}
