// SPDX-License-Identifier: MIT
#pragma once
/// Operators without a shader: they run on the CPU, in a hybrid plan.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lowering.hpp>

NSK_BEGIN
namespace gpu::impl {

struct without_shader {
  static refusal lower(const step_view&, dispatch_writer&) { return "its operator has no shader"; }
};
template <>
struct lowering<op::non_max_suppression> : without_shader {};
template <>
struct lowering<op::recurrent> : without_shader {};
template <>
struct lowering<op::random> : without_shader {};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
