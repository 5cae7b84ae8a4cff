// SPDX-License-Identifier: MIT
#pragma once
/// Every operator's lowering, and the question by number.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lower_copy.hpp>
#include <netsuke/gpu/impl/lower_elementwise.hpp>
#include <netsuke/gpu/impl/lower_line.hpp>
#include <netsuke/gpu/impl/lower_no_shader.hpp>
#include <netsuke/gpu/impl/lower_random.hpp>
#include <netsuke/gpu/impl/lower_rank.hpp>
#include <netsuke/gpu/impl/lower_recurrent.hpp>
#include <netsuke/gpu/impl/lower_resize_2d.hpp>
#include <netsuke/gpu/impl/lower_row.hpp>
#include <netsuke/gpu/impl/lower_typed.hpp>
#include <netsuke/gpu/impl/lower_window.hpp>
#include <netsuke/ops/impl/narrow_weights.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Adds the dispatches of a step, or returns why it has none.
inline refusal lower_step(const step_view& s, dispatch_writer& to) {
  if (nsk::impl::has_half_weights(s))
    return "its weights are float16 in the file; convert the model without --weights fp16, and set "
           "plan_settings::half_weights to have them so on the GPU";
  if (nsk::impl::has_int8_weights(s))
    return "its weights are int8 in the file; convert the model without --weights w8, or with --gpu for a variant of "
           "float32";
  if (!has_shader(s.op(), s.epilogue().fn)) return "its function has no shader behind this operator";
  switch (s.op()) {
#define NSK_GPU_LOWER(name, Table) \
  case op::name: return lowering<op::name>::lower(s, to);
    NSK_OP_LIST(NSK_GPU_LOWER)
#undef NSK_GPU_LOWER
    case op::none: break;
  }
  return "it has no operator";
}
/// lower_step(), except that it also refuses operators which the settings leave to the CPU.
inline refusal lower_on_device(const step_view& s, dispatch_writer& to) {
  const plan_settings& how = to.settings();
  if (how.hybrid && (how.cpu_operators >> static_cast<int>(s.op()) & 1) != 0)
    return "the settings leave its operator to the CPU";
  return lower_step(s, to);
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
