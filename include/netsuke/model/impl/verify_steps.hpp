// SPDX-License-Identifier: MIT
#pragma once
/// Fourth part of the verifier: every step has what its operator needs, and tiles and scratch are as the format says.
/// The rules of single operators are in verify_ops.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/region.hpp>
#include <netsuke/model/impl/verify_ops.hpp>

NSK_BEGIN
namespace impl {

/// Number of inputs without those that the epilogue names.
NSK_COLD inline std::uint32_t own_inputs(const format::Step& s) {
  switch (static_cast<op>(s.op_type())) {
    case op::conv_2d:
    case op::depthwise_conv_2d:
    case op::fully_connected:
    case op::mat_mul:
    case op::binary:
    case op::compare:
    case op::arithmetic:
    case op::gather:
    case op::gather_elements:
    case op::non_max_suppression: return 2;
    case op::select:
    case op::layer_normalization: return 3;
    case op::fill:
    case op::random: return 0;
    case op::resize_2d: return 5;
    case op::recurrent: return static_cast<std::uint32_t>(recurrent_inputs::of(s.op_as_Recurrent()).count);
    case op::tree_ensemble: return 7;
    default: return 1;
  }
}

/// Tensors exist, and their number is that of the operator and the epilogue.
inline status_code verify_arity(const verify_context& c, const format::Step& table, const epilogue_info& e) {
  if (count_of(table.outputs()) != 1) return status_code::bad_arity;
  const std::uint32_t own = own_inputs(table), count = count_of(table.inputs());
  const std::uint32_t named = (e.residual >= 0 ? 1u : 0u) + (e.slope >= 0 ? 1u : 0u);
  if (count != own + named) return status_code::bad_arity;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (table.inputs()->Get(i) >= c.tensors()) return status_code::bad_index;
  }
  if (table.outputs()->Get(0) >= c.tensors()) return status_code::bad_index;
  const auto is_extra = [&](std::int32_t i) {
    return i == -1 || (i >= static_cast<std::int32_t>(own) && i < static_cast<std::int32_t>(count));
  };
  if (!is_extra(e.residual) || !is_extra(e.slope) || (named == 2 && e.residual == e.slope))
    return status_code::bad_arity;
  return status_code::ok;
}

/// The residual has the output's shape; the slope is a constant with one float per channel.
NSK_COLD inline bool epilogue_agrees(const step_view& s, const epilogue_info& e) {
  if (static_cast<int>(e.fn) >= function_count || (e.fn == function::prelu) != (e.slope >= 0)) return false;
  const tensor_info output = s.output();
  if (e.residual >= 0) {
    const tensor_info r = s.input(e.residual);
    if (r.type() != dtype::float32 || r.arrangement() != packing::plain ||
        !same_shape(r.view(nullptr), output.view(nullptr)))
      return false;
  }
  if (e.slope >= 0) {
    const tensor_info slope = s.input(e.slope);
    if (slope.where() != storage::constant || slope.type() != dtype::float32 || slope.arrangement() != packing::plain)
      return false;
    if (slope.rank() != 1 || slope.elements() != output.shape()[output.shape().size() - 1] ||
        !is_dense(slope.view(nullptr)))
      return false;
  }
  return true;
}

/// Whether the kernel of an operator fills the border of its output.
NSK_COLD inline bool fills_border(op o) {
  switch (o) {
    case op::mat_mul:
    case op::pack_panels:
    case op::compare:
    case op::arithmetic:
    case op::arg_reduce:
    case op::top_k:
    case op::non_max_suppression:
    case op::recurrent:
    case op::tree_ensemble: return false;
    default: return true;
  }
}

/// What a kernel writes: each element once, and a border only where its kernel fills one.
NSK_COLD inline bool output_is_writable(const step_view& s) {
  const tensor_info output = s.output();
  if (output.arrangement() != packing::plain) return false;
  bool repeats;
  const tensor_view v = output.view(nullptr);
  const region r = region_of(v, static_cast<std::int64_t>(output.offset()), repeats);
  const bool bordered = (v.border.top | v.border.left | v.border.bottom | v.border.right) != 0;
  if (bordered && !fills_border(s.op())) return false;
  return !repeats && r.injective();
}

/// The cut is the one of plan/tiles.hpp, and does not separate what the operator's kernel needs together.
NSK_COLD inline bool tiles_agree(const step_view& s) {
  const tensor_info output = s.output();
  const tile_size t = s.tile();
  const tile_space space = tile_space_of(output.shape().data(), output.rank());
  const tile_grid grid = tile_grid_of(space, t);
  if (t.channels % panel_width != 0 || grid.count() > (1 << 30)) return false;
  if (s.table()->tile() && s.table()->tile()->count() != static_cast<std::uint64_t>(grid.count())) return false;
  switch (s.op()) {
    case op::conv_2d: {
      const std::int64_t group = space.channels / s.groups();
      return s.groups() == 1 || grid.channels == 1 || t.channels % group == 0 || group % panel_width == 0;
    }
    case op::pack_panels: return grid.channels == 1;
    case op::non_max_suppression: return grid.count() == 1;
    case op::layer_normalization:
    case op::tree_ensemble:
    case op::local_response_normalization: return grid.channels == 1;
    case op::recurrent: return recurrent_tiles_agree(s, t, grid);
    case op::softmax:
    case op::top_k: {
      const int from_last = output.rank() - 1 - s.axis();
      return from_last == 0 ? grid.channels == 1 : from_last == 1 ? grid.pixels == 1 : grid.rows == 1;
    }
    default: return true;
  }
}

NSK_COLD inline bool scratch_agrees(const verify_context& c, const step_view& s) {
  if (s.scratch_bytes() > c.variant.lane_bytes()) return false;
  const auto given = static_cast<std::int64_t>(s.scratch_bytes());
  switch (s.op()) {
    case op::conv_2d: return kernels::conv_2d_scratch_bytes(conv_shape_of(s)) <= given;
    case op::resize_2d: return kernels::resize_2d_scratch_bytes(s.resize_2d()->row_taps()) <= given;
    case op::non_max_suppression: return kernels::non_max_suppression_scratch_bytes(s.input(0).shape()[1]) <= given;
    case op::recurrent: return recurrent_scratch_agrees(s, given);
    default: return true;
  }
}

inline status_code verify_step(verify_context& c, std::uint32_t index) {
  const step_view s(c.variant.table(), index);
  const epilogue_info e = s.epilogue();
  const status_code arity = verify_arity(c, *s.table(), e);
  if (arity != status_code::ok) return arity;
  if (!epilogue_agrees(s, e) || !output_is_writable(s)) return status_code::bad_step;
  const status_code rules = verify_op(c, s);
  if (rules != status_code::ok) return rules;
  if (!tiles_agree(s)) return status_code::bad_tile;
  return scratch_agrees(c, s) ? status_code::ok : status_code::bad_scratch;
}

NSK_COLD inline status verify_steps(verify_context& c) {
  for (std::uint32_t i = 0; i < c.steps(); ++i) {
    if (!c.work.spend(step_work)) return status_code::too_complex;
    const status_code code = verify_step(c, i);
    if (code != status_code::ok) return {code, static_cast<std::int32_t>(i)};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
