// SPDX-License-Identifier: MIT
#pragma once
/// Small files (nsk convert --small): what a file holds, stored in fewer bytes, which nsk::prepare expands to that
/// file.
#include <cstddef>
#include <vector>
#include "program/plan.hpp"

namespace nsk::tool {

/// Returns the small file of `file`. Weights whose kernels are not given stay as they are. With `codes`, bytes are
/// coded by how often they occur: 5 to 15 % fewer of them, each of which takes nsk::prepare 6 ns.
std::vector<std::byte> shrink(const std::vector<std::byte>& file, const winograd_kernels& kernels, bool codes = false);

}
