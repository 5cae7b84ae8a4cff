// SPDX-License-Identifier: MIT
#pragma once
/// Part of the verifier: a run may compute fewer rows of a batch than the shapes say.
///
/// Such a run shortens the batch dimension of every tensor that has rows. The rules here make sure that all tensors of
/// a step are shortened alike, so that what was proven of the whole shapes holds for the shorter ones, and that no step
/// takes rows together.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// Rows of equal length fill the first dimension longer than 1.
NSK_COLD inline bool rows_fit(const tensor_info& t, int rows) {
  if (t.table()->batch() == 0) return true;
  const int d = t.batch_dimension();
  if (rows == 0 || d < 0 || t.arrangement() != packing::plain) return false;
  return std::uint64_t{t.table()->batch()} * static_cast<std::uint64_t>(rows) ==
         static_cast<std::uint64_t>(t.shape()[static_cast<std::size_t>(d)]);
}

NSK_COLD inline bool same_rows(const tensor_info& a, const tensor_info& b) {
  return a.batch() == b.batch() && (a.batch() == 0 || a.batch_dimension() == b.batch_dimension());
}

/// output[.., i, ..] = data[.., indices[i], ..]: either the data or the indices have rows.
NSK_COLD inline bool gather_keeps_rows(const step_view& s) {
  const tensor_info data = s.input(0), indices = s.input(1), y = s.output();
  if (s.axis() != y.batch_dimension()) return same_rows(data, y) && indices.batch() == 0;
  return data.batch() == 0 && indices.batch() == y.batch();
}

/// Gates, initial states and lengths have the rows of the result.
NSK_COLD inline bool recurrence_keeps_rows(const step_view& s) {
  const recurrent_inputs in = recurrent_inputs::of(s.recurrent());
  const tensor_info y = s.output();
  if (in.initial_c >= 0 && !same_rows(s.input(in.initial_c), y)) return false;
  if (in.lengths >= 0 && !same_rows(s.input(in.lengths), y)) return false;
  return same_rows(s.input(0), y) && same_rows(s.input(2), y) && y.batch_dimension() == 0;
}

/// Whether the rows of the output are functions of the same rows of the inputs. Inputs that kernels see as pointers to
/// constants need no rule.
NSK_COLD inline bool keeps_rows_apart(const step_view& s) {
  const tensor_info y = s.output();
  const int d = y.batch_dimension(), last = y.rank() - 1, residual = s.epilogue().residual;
  if (residual >= 0 && !same_rows(s.input(residual), y)) return false;
  const auto alike = [&](int inputs) {
    for (int i = 0; i < inputs; ++i) {
      if (!same_rows(s.input(i), y)) return false;
    }
    return true;
  };
  switch (s.op()) {
    case op::conv_2d:
    case op::depthwise_conv_2d:
    case op::pool_2d:
    case op::resize_2d:
    case op::tree_ensemble:
    case op::pack_panels: return alike(1) && d == 0;
    case op::fully_connected:
    case op::layer_normalization:
    case op::local_response_normalization: return alike(1) && d < last;
    case op::mat_mul: return alike(1) && d < last && (s.mat_mul()->shared_right() ? s.input(1).batch() == 0 : d == 0);
    case op::unary:
    case op::copy:
    case op::cast:
    case op::reduce: return alike(1);
    case op::binary:
    case op::compare:
    case op::arithmetic: return alike(2);
    case op::select: return alike(3);
    case op::softmax:
    case op::arg_reduce:
    case op::top_k: return alike(1) && d != s.axis();
    case op::gather: return gather_keeps_rows(s);
    case op::gather_elements: return alike(2) && d != s.axis();
    case op::recurrent: return recurrence_keeps_rows(s);
    case op::fill: return true;
    case op::random: return d == 0;
    default: return false;
  }
}

NSK_COLD inline bool has_rows(const step_view& s) {
  for (int i = 0; i < s.input_count(); ++i) {
    if (s.input(i).batch() != 0) return true;
  }
  return s.output().batch() != 0;
}

NSK_COLD inline status verify_batch(const verify_context& c) {
  const std::uint32_t rows = c.variant.table()->batch();
  if (rows == 1 || rows > std::uint32_t{max_elements}) return status_code::bad_batch;
  for (int i = 0; i < c.variant.tensor_count(); ++i) {
    if (!rows_fit(c.variant.tensor(i), static_cast<int>(rows))) return {status_code::bad_batch, i};
  }
  for (int i = 0; i < c.variant.state_count(); ++i) {
    const state_view state = c.variant.state(i);
    if (state.tensor().batch() != 0 || state.next().batch() != 0) return {status_code::bad_batch, i};
  }
  for (int i = 0; rows != 0 && i < c.variant.step_count(); ++i) {
    const step_view s = c.variant.step(i);
    if (has_rows(s) && (s.output().batch() == 0 || !keeps_rows_apart(s))) return {status_code::bad_batch, i};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
