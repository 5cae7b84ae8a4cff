// SPDX-License-Identifier: MIT
#pragma once
/// One variant as a program, and that as a plan whose memory is still to be planned.
#include "compile/compile.hpp"
#include "ops/lower.hpp"
#include "passes/canonicalise/canonicalise.hpp"
#include "program/plan.hpp"
#include "program/program.hpp"

namespace nsk::tool {

/// A variant's network, ready to be lowered; for GPUs, which have no kernels on bytes, without those. Windows are cut
/// to what they see of small inputs, except where those have lengths, and `bounds` is the graph for their bounds: then
/// windows are the same for all of them.
program program_of(const variant_source& v, byte_kernels bytes, const graph* bounds = nullptr);

/// Lowers a program for one kind of device; `borders` and `packed` as lower() has them.
plan lowered(const program& p, const variant_source& v, lower_options lowering, const compile_options& options,
             value_borders* borders = nullptr, packed_weights* packed = nullptr);

}
