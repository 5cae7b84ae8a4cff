// SPDX-License-Identifier: MIT
#pragma once
/// One row of a recurrent layer in one direction, for generated networks: lengths are constants, the gates' functions
/// are the usual ones. Operations and their order are those of kernels/dense/recurrent.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/codegen/small.hpp>
#include <netsuke/kernels/dense/recurrent_gates.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace codegen {
namespace impl {

/// The functions of gates, without parameters.
inline kernels::recurrent_args usual_gates(recurrent_kind kind) {
  kernels::recurrent_args a{};
  a.kind = kind;
  return a;
}
template <int Count>
NSK_INLINE void copy_floats(const float* from, float* to) {
  map<function::identity, Count>(from, to);
}

}

/// Time steps of a GRU: `gates` is [TimeSteps, 3 * Hidden], the products of the layer's inputs; y is
/// [TimeSteps + 1, Hidden], of which the last row is that of the last time step. y overlaps no input.
template <int Hidden, int TimeSteps, bool LinearBeforeReset>
inline void gru(const float* gates, const float* weights, const float* initial_h, float* y) {
  using simd::f32;
  constexpr int gate_floats = 3 * Hidden, padded = static_cast<int>(padded_channels(gate_floats)) + 16;
  const kernels::impl::gate_functions<true> of(impl::usual_gates(recurrent_kind::gru), 0);
  alignas(64) float product[padded];
  const float* h = initial_h;
  for (std::ptrdiff_t t = 0; t < TimeSteps; ++t, h = y, y += Hidden) {
    kernels::impl::gate_row row{};
    row.input = gates + t * gate_floats;
    row.product = product;
    row.h = h;
    row.to_h = y;
    row.hidden = Hidden;
    if constexpr (LinearBeforeReset) {
      dense<Hidden, gate_floats>(h, weights, product);
      kernels::impl::gru_row(row, of);
    } else {
      dense<Hidden, 2 * Hidden>(h, weights, product);
      kernels::impl::gru_reset_row(row, of);
      dense<Hidden, Hidden>(product + Hidden, weights + panel_floats(2 * Hidden, Hidden), product + 2 * Hidden);
      kernels::impl::gru_hidden_row(row, of);
    }
  }
  impl::copy_floats<Hidden>(h, y);
}

/// Time steps of an LSTM without peepholes: `gates` is [TimeSteps, 4 * Hidden]; y is [TimeSteps + 2, Hidden], of which
/// the last two rows are h and c after the last time step. y overlaps no input.
template <int Hidden, int TimeSteps>
inline void lstm(const float* gates, const float* weights, const float* initial_h, const float* initial_c, float* y) {
  constexpr int gate_floats = 4 * Hidden, padded = static_cast<int>(padded_channels(gate_floats)) + 16;
  const kernels::impl::gate_functions<true> of(impl::usual_gates(recurrent_kind::lstm), 0);
  alignas(64) float product[padded];
  float* const last_c = y + (TimeSteps + 1) * Hidden;
  const float *h = initial_h, *c = initial_c;
  for (std::ptrdiff_t t = 0; t < TimeSteps; ++t, h = y, c = last_c, y += Hidden) {
    dense<Hidden, gate_floats>(h, weights, product);
    kernels::impl::lstm_row<true>({gates + t * gate_floats, product, h, c, y, last_c, Hidden}, of, nullptr, false);
  }
  impl::copy_floats<Hidden>(h, y);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
