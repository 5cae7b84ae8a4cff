// SPDX-License-Identifier: MIT
#pragma once
/// Fourth part of the verifier: every step has what its operator needs, and tiles and scratch are as the format says.
/// The rules of single operators are in their files, ops/.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/region.hpp>
#include <netsuke/model/impl/verify_context.hpp>
#include <netsuke/ops/every_op.hpp>

NSK_BEGIN
namespace impl {

/// Tensors exist, and their number is that of the operator and the epilogue.
NSK_COLD inline status_code verify_arity(const verify_context& c, const step_view& s, int own,
                                         const epilogue_params& e) {
  if (s.output_count() != 1) return status_code::bad_arity;
  const int count = s.input_count(), named = (e.residual >= 0 ? 1 : 0) + (e.slope >= 0 ? 1 : 0);
  if (count != own + named) return status_code::bad_arity;
  for (int i = 0; i < count; ++i) {
    if (s.input_index(i) >= c.tensors()) return status_code::bad_index;
  }
  if (s.output_index() >= c.tensors()) return status_code::bad_index;
  const auto is_extra = [&](std::int32_t i) { return i == -1 || (i >= own && i < count); };
  if (!is_extra(e.residual) || !is_extra(e.slope) || (named == 2 && e.residual == e.slope))
    return status_code::bad_arity;
  return status_code::ok;
}

/// The residual has the output's shape; the slope is a constant with one float per channel.
NSK_COLD inline bool epilogue_agrees(const step_view& s, const epilogue_params& e) {
  if (!is_known(e.fn) || (e.fn == function::prelu) != (e.slope >= 0)) return false;
  const tensor_info output = s.output();
  if (e.residual >= 0 && !(is_float(s.input(e.residual)) && same_shape(s.input(e.residual), output))) return false;
  return e.slope < 0 || is_constant_line(s.input(e.slope), last_length(output));
}

/// Whether each element of the output, and of its border, is in a place of its own.
NSK_COLD inline bool output_is_writable(const step_view& s) {
  const tensor_info output = s.output();
  bool repeats;
  const region r = region_of(output.view(nullptr), static_cast<std::int64_t>(output.offset()), repeats);
  return !repeats && r.injective();
}

/// The cut is the one of format/tiles.hpp, and does not separate what belongs to one tile.
NSK_COLD NSK_NOINLINE inline bool tiles_agree(const step_view& s, const whole_axes& whole, tile_grid& grid) {
  const tile_size t = s.tile();
  grid = tile_grid_of(s.space(), t);
  if (t.channels % panel_width != 0 || grid.count() > (1 << 30)) return false;
  if (static_cast<std::uint32_t>(s.tile_count()) != static_cast<std::uint64_t>(grid.count())) return false;
  return (!whole.rows || grid.rows == 1) && (!whole.pixels || grid.pixels == 1) &&
         (!whole.channels || grid.channels == 1);
}

/// What all operators ask of their tensors, once for all of them.
NSK_COLD NSK_NOINLINE inline status_code verify_tensors_of(const verify_context& c, const step_view& s,
                                                           const operand_table& own) {
  const epilogue_params e = s.epilogue();
  const status_code arity = verify_arity(c, s, own.count, e);
  if (arity != status_code::ok) return arity;
  return accepted(operands_agree(s, own) && epilogue_agrees(s, e) && output_is_writable(s));
}

/// Asks the traits of operator `O` everything about one step.
template <op O, class Narrow>
NSK_COLD NSK_NOINLINE status_code verify_step_of(const verify_context& c, const step_view& s) {
  using traits = op_traits<O>;
  const typename traits::params p = s.params<O>();
  const status_code tensors = verify_tensors_of(c, s, traits::operands(p));
  if (tensors != status_code::ok) return tensors;
  using own = narrow_weights<Narrow::halves && takes_half_weights(O), Narrow::bytes && takes_int8_weights(O)>;
  std::conditional_t<own::halves || own::bytes, narrow_constant_reader<own>, constant_reader> constants(c.weights,
                                                                                                        c.work);
  const status_code rules = traits::check_rules(constants, s, p);
  if (rules != status_code::ok) return rules;
  tile_grid grid;
  if (!tiles_agree(s, traits::whole(p, s.output().rank()), grid) || !traits::accepts_tiles(p, s, s.tile(), grid))
    return status_code::bad_tile;
  if (s.scratch_bytes() > c.variant.lane_bytes()) return status_code::bad_scratch;
  if constexpr (!std::is_base_of<without_scratch, traits>::value) {
    const std::int64_t scratch = traits::scratch_bytes(p, s.input(0), s.output());
    if (scratch > static_cast<std::int64_t>(s.scratch_bytes())) return status_code::bad_scratch;
  }
  return status_code::ok;
}

/// Operators that are not in `Ops` have no code here, and their steps are refused.
template <class Ops, class Narrow>
status_code verify_step(const verify_context& c, const step_view& s) {
  switch (s.op()) {
#define NSK_VERIFY(name, Table)                                                      \
  case op::name:                                                                     \
    if constexpr (Ops::has(op::name)) return verify_step_of<op::name, Narrow>(c, s); \
    break;
    NSK_OP_LIST(NSK_VERIFY)
#undef NSK_VERIFY
    case op::none: break;
  }
  return status_code::unsupported_op;
}

template <class Ops, class Narrow>
status verify_steps(const verify_context& c) {
  for (int i = 0; i < c.variant.step_count(); ++i) {
    if (!c.work.spend(step_work)) return status_code::too_complex;
    const status_code code = verify_step<Ops, Narrow>(c, c.variant.step(i));
    if (code != status_code::ok) return {code, i};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
