// SPDX-License-Identifier: MIT
#pragma once
/// Small files (nsk convert --small): what a file holds, stored in fewer bytes, which nsk::prepare expands to that
/// file.
#include <cstddef>
#include <vector>
#include "program/plan.hpp"

namespace nsk::tool {

/// Returns the small file of `file`. Weights whose kernels are not given stay as they are.
std::vector<std::byte> shrink(const std::vector<std::byte>& file, const winograd_kernels& kernels);

}
