// SPDX-License-Identifier: MIT
#pragma once
/// Rules of the recurrence of a layer over time.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/scratch.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// Lengths of a recurrent step; `output` has rank 4.
struct recurrent_shape {
  recurrent_kind kind;
  std::int64_t batch, instants, directions, hidden;

  static recurrent_shape of(const step_view& s) {
    const span<const std::int32_t> y = s.output().shape();
    const auto kind = static_cast<recurrent_kind>(s.recurrent()->kind());
    return {kind, y[0], y[1] - recurrent_final_rows(kind), y[2], y[3]};
  }
};

/// Functions of gates and their parameters: as many as the kind and the directions need.
NSK_COLD inline bool recurrent_functions_agree(const format::Recurrent* r, const recurrent_shape& shape) {
  const auto wanted = static_cast<std::uint32_t>(shape.directions * recurrent_functions(shape.kind));
  if (count_of(r->functions()) != wanted || count_of(r->parameters()) != 2 * wanted) return false;
  for (std::uint32_t i = 0; i < wanted; ++i) {
    if (r->functions()->Get(i) > static_cast<std::uint8_t>(format::RecurrentFunction::MAX)) return false;
  }
  return r->reverse() < 1u << shape.directions && r->clip() >= 0 && r->cell_clip() >= 0;
}

/// A float tensor [batch, directions, hidden].
NSK_COLD inline bool is_recurrent_state(const tensor_info& t, const recurrent_shape& shape) {
  const span<const std::int32_t> x = t.shape();
  return is_float_lines(t) && x.size() == 3 && x[0] == shape.batch && x[1] == shape.directions && x[2] == shape.hidden;
}

/// What options name is there, and as long as the layer.
NSK_COLD inline bool recurrent_options_agree(const step_view& s, const recurrent_shape& shape) {
  const format::Recurrent* r = s.recurrent();
  const recurrent_inputs in = recurrent_inputs::of(r);
  const bool is_lstm = shape.kind == recurrent_kind::lstm;
  if ((r->peephole() || r->input_forget() || r->cell_clip() > 0) && !is_lstm) return false;
  if (r->linear_before_reset() && shape.kind != recurrent_kind::gru) return false;
  if (in.initial_c >= 0 && !is_recurrent_state(s.input(in.initial_c), shape)) return false;
  if (in.peephole >= 0) {
    const tensor_info p = s.input(in.peephole);
    if (p.where() != storage::constant || !is_float(p) || p.rank() != 1 || !is_dense(p.view(nullptr)) ||
        p.elements() != 3 * shape.directions * shape.hidden)
      return false;
  }
  if (in.lengths < 0) return true;
  const tensor_info lengths = s.input(in.lengths);
  return lengths.type() == dtype::int32 && lengths.arrangement() == packing::plain && lengths.rank() == 1 &&
         lengths.shape()[0] == shape.batch;
}

inline status_code verify_recurrent(const step_view& s) {
  const tensor_info x = s.input(0), weights = s.input(1), y = s.output();
  const format::Recurrent* r = s.recurrent();
  if (r->kind() > format::RecurrentKind::MAX || !is_image(x) || !is_image(y)) return status_code::bad_step;
  const recurrent_shape shape = recurrent_shape::of(s);
  if (shape.instants < 1 || shape.directions > 2 || !recurrent_functions_agree(r, shape)) return status_code::bad_step;
  const span<const std::int32_t> in = x.shape();
  if (in[0] != shape.batch || in[1] != shape.instants || in[2] != shape.directions ||
      in[3] != recurrent_gates(shape.kind) * shape.hidden)
    return status_code::bad_step;
  if (!is_recurrent_state(s.input(2), shape) || !recurrent_options_agree(s, shape)) return status_code::bad_step;
  const std::int64_t floats =
      shape.directions * recurrent_weight_floats(shape.kind, r->linear_before_reset(), shape.hidden);
  const bool held = weights.where() == storage::constant && weights.type() == dtype::float32 &&
                    weights.arrangement() == packing::panels && weights.elements() >= floats;
  return held ? status_code::ok : status_code::bad_weights;
}

/// A tile has whole rows of the batch: all their instants and final rows, and all hidden elements.
NSK_COLD inline bool recurrent_tiles_agree(const step_view& s, const tile_size& t, const tile_grid& grid) {
  return grid.channels == 1 && (grid.rows == 1 || t.rows % static_cast<std::uint32_t>(s.output().shape()[1]) == 0);
}

NSK_COLD inline bool recurrent_scratch_agrees(const step_view& s, std::int64_t given) {
  const recurrent_shape shape = recurrent_shape::of(s);
  return kernels::recurrent_scratch_bytes(shape.kind, shape.batch, shape.hidden) <= given;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
