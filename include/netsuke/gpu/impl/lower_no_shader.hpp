// SPDX-License-Identifier: MIT
#pragma once
/// Operators without a shader: they run on the CPU, in a hybrid plan.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lowering.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Boxes are kept one after the other, each by all that were kept before it, and overlaps are computed in double
/// precision, which shaders need not have: a shader would keep other boxes.
template <>
struct lowering<op::non_max_suppression> {
  static refusal lower(const step_view&, dispatch_writer&) {
    return "its operator has no shader: it needs double precision, and one box after the other";
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
