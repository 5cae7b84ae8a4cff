// SPDX-License-Identifier: MIT
#pragma once
/// Program -> plan: gives every value a place and a memory layout, and every operation its steps.
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {

/// Lowers a fused program. Refuses what has no layout: more than six axes after merging, and operations that ask for
/// other layouts in every round. `borders` become those of its values; `packed` keeps what it
/// packs.
[[nodiscard]] plan lower(const program& p, const lower_options& options, value_borders* borders = nullptr,
                         packed_weights* packed = nullptr);

}
