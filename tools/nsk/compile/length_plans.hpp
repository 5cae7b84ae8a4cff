// SPDX-License-Identifier: MIT
#pragma once
/// The plan of a variant with lengths: that of the bounds, which is shown to be that of every other value.
#include "compile/lower_variant.hpp"

namespace nsk::tool {

/// Lowers a variant with lengths: `p`, its network at the bounds, and the network at other values (variant_source::at),
/// from which the numbers of the plan that follow lengths are found. Then every other value of the lengths is lowered,
/// and must have that plan; of more values than a minute or two allows, some of them. Convolutions are computed as at
/// the bounds, and each value has the border that some length needs. Refuses lengths that have no plan in common
/// (lengths/follow.hpp).
plan plan_of_lengths(const program& p, const variant_source& v, const lower_options& lowering,
                     const compile_options& options);

}
