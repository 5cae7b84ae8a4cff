// SPDX-License-Identifier: MIT
#pragma once
/// Part of the verifier: a run may compute fewer rows of a batch than the shapes say.
///
/// Such a run shortens the batch dimension of every tensor that has rows. The rules here make sure that all tensors of
/// a step are shortened alike, so that what was proven of the whole shapes holds for the shorter ones, and that no step
/// takes rows together.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/verify_context.hpp>
#include <netsuke/ops/every_op.hpp>

NSK_BEGIN
namespace impl {

/// Rows of equal length fill the first dimension longer than 1.
NSK_COLD inline bool rows_fit(const tensor_info& t, std::uint32_t rows) {
  if (t.batch() == 0) return true;
  const int d = t.batch_dimension();
  if (rows == 0 || d < 0 || !is_plain(t)) return false;
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(t.batch())) * rows ==
         static_cast<std::uint64_t>(t.shape()[static_cast<std::size_t>(d)]);
}

NSK_COLD inline bool same_rows(const tensor_info& a, const tensor_info& b) {
  return a.batch() == b.batch() && (a.batch() == 0 || a.batch_dimension() == b.batch_dimension());
}

/// Whether the rows of the output are functions of the same rows of the inputs.
template <class Ops>
bool keeps_rows_apart(const step_view& s) {
  const tensor_info y = s.output();
  const row_rule rule = rows_of<Ops>(s, y.batch_dimension(), y.rank());
  const int residual = s.epilogue().residual;
  if (!rule.apart) return false;
  for (int i = 0; i < s.input_count(); ++i) {
    const tensor_info x = s.input(i);
    const std::uint32_t bit = 1u << i;
    const bool good = (rule.same & bit) != 0 || i == residual ? same_rows(x, y)
                      : (rule.line & bit) != 0                ? x.batch() == y.batch()
                                                              : (rule.free & bit) != 0 || x.batch() == 0;
    if (!good) return false;
  }
  return true;
}

NSK_COLD inline bool has_rows(const step_view& s) {
  for (int i = 0; i < s.input_count(); ++i) {
    if (s.input(i).batch() != 0) return true;
  }
  return s.output().batch() != 0;
}

template <class Ops>
status verify_batch(const verify_context& c) {
  const auto rows = static_cast<std::uint32_t>(c.variant.batch());
  if (rows == 1 || rows > std::uint32_t{max_elements}) return status_code::bad_batch;
  for (int i = 0; i < c.variant.tensor_count(); ++i) {
    if (!rows_fit(c.variant.tensor(i), rows)) return {status_code::bad_batch, status_place::tensor, i};
  }
  for (int i = 0; i < c.variant.state_count(); ++i) {
    const state_view state = c.variant.state(i);
    if (state.tensor().batch() != 0 || state.next().batch() != 0)
      return {status_code::bad_batch, status_place::state, i};
  }
  for (int i = 0; rows != 0 && i < c.variant.step_count(); ++i) {
    const step_view s = c.variant.step(i);
    if (has_rows(s) && (s.output().batch() == 0 || !keeps_rows_apart<Ops>(s))) return {status_code::bad_batch, i};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
