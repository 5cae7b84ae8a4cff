// SPDX-License-Identifier: MIT
#pragma once
/// Questions about operations and steps whose operator is not known: each is passed to the operator's file.
#include <netsuke/ops/op_traits.hpp>
#include "ops/impl/tile_sizes.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {

/// Gives an operation of a program its steps. Refuses operations that neither an operator file nor the layout passes
/// know.
void lower_operation(lowerer& l, const operation& o);

/// Returns the cut of a step into tiles.
tile_size tiles_of(const tile_request& r);

/// Returns the lane scratch of a step, in bytes.
std::int64_t scratch_bytes_of(const plan& p, const plan_step& s);

/// Returns what rows of a batch along dimension `d` of the output, which has `rank` dimensions, mean for the inputs:
/// the engine's verifier asks the same.
impl::row_rule rows_of(const plan_step& s, int d, int rank);

/// Returns the kind of work that a step of a file is (impl/work_kinds.hpp).
std::string work_kind_of(const step_view& s, const tile_space& space);

}
