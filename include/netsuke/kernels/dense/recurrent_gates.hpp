// SPDX-License-Identifier: MIT
#pragma once
/// Gates of recurrent layers, one row of one time step at a time: what stands between two products with the recurrent
/// weights. Formulas are those of ONNX's LSTM, GRU and RNN.
///
/// Order of operations: a gate's argument is input + product, then with a peephole fma(p, c, .), then clipped; h(c) is
/// not. lstm: c = fma(f, c, i * g), clipped by a limit of its own, h = o * h(c). gru: h = fma(z, h, (1 - z) * g).
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/math/functions.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {
using simd::f32;

/// The function of a gate by number: every one but the usual two.
NSK_ONE_COPY inline f32 unusual_gate(const recurrent_gate& g, f32 x) {
  const f32 a = simd::splat(g.alpha), b = simd::splat(g.beta), zero = simd::zero();
  switch (g.fn) {
    case recurrent_function::relu: return simd::max(x, zero);
    case recurrent_function::affine: return simd::fma(a, x, b);
    case recurrent_function::leaky_relu: return math::leaky_relu(x, a);
    case recurrent_function::thresholded_relu: return simd::select(simd::less(x, a), zero, x);
    case recurrent_function::scaled_tanh: return simd::mul(a, math::tanh(simd::mul(b, x)));
    case recurrent_function::hard_sigmoid: return math::hard_sigmoid(x, a, b);
    case recurrent_function::elu: return math::elu(x, a);
    case recurrent_function::softsign: return simd::div(x, simd::add(simd::splat(1), simd::abs(x)));
    case recurrent_function::softplus: return math::softplus(x);
    case recurrent_function::sigmoid: return math::sigmoid(x);
    case recurrent_function::tanh: break;
  }
  return math::tanh(x);
}

/// The functions f, g and h of one direction. Usual: sigmoid, tanh, tanh without clipping, known to the compiler.
template <bool Usual>
class gate_functions {
 public:
  gate_functions(const recurrent_args& a, int direction) : m_gate(a.gate[direction]) {
    const float maximum = a.clip > 0 ? a.clip : math::impl::infinity;
    m_high = simd::splat(maximum);
    m_low = simd::splat(-maximum);
    const float max_cell = a.cell_clip > 0 ? a.cell_clip : math::impl::infinity;
    m_cell_high = simd::splat(max_cell);
    m_cell_low = simd::splat(-max_cell);
  }
  NSK_INLINE f32 f(f32 x) const {
    if constexpr (Usual) return math::sigmoid(x);
    return unusual_gate(m_gate[0], clipped(x));
  }
  NSK_INLINE f32 g(f32 x) const {
    if constexpr (Usual) return math::tanh(x);
    return unusual_gate(m_gate[1], clipped(x));
  }
  NSK_INLINE f32 h(f32 x) const {
    if constexpr (Usual) return math::tanh(x);
    return unusual_gate(m_gate[2], x);
  }
  /// c within its limit; NaN stays.
  NSK_INLINE f32 limited_cell(f32 c) const { return simd::min(m_cell_high, simd::max(m_cell_low, c)); }

 private:
  NSK_INLINE f32 clipped(f32 x) const { return simd::min(m_high, simd::max(m_low, x)); }  // NaN stays
  const recurrent_gate* m_gate;
  f32 m_low, m_high, m_cell_low, m_cell_high;
};

/// Whether a direction has the usual functions of its kind.
inline bool has_usual_gates(const recurrent_args& a, int direction) {
  const recurrent_gate* g = a.gate[direction];
  return a.clip == 0 && g[0].fn == recurrent_function::sigmoid && g[1].fn == recurrent_function::tanh &&
         (a.kind == recurrent_kind::gru || g[2].fn == recurrent_function::tanh);
}

/// One row of one time step: `input` and `product` hold the gates, `hidden` elements each, and may be read up to
/// over_read bytes further.
struct gate_row {
  const float* input;
  float* product;
  const float *h, *c;  ///< of the time step before
  float *to_h, *to_c;  ///< to_c may be c
  int hidden;
};

/// Loads and stores the first min(n, lanes) lanes.
NSK_INLINE f32 load_up_to(const float* from, int n) {
  return n >= f32::lanes ? simd::load(from) : simd::load_partial(from, n);
}
NSK_INLINE void store_up_to(float* to, int n, f32 x) {
  n >= f32::lanes ? simd::store(to, x) : simd::store_partial(to, n, x);
}

template <bool Usual>
NSK_ONE_COPY inline void lstm_row(const gate_row& r, const gate_functions<Usual>& of, const float* peephole,
                                  bool input_forget) {
  const int n = r.hidden;
  for (int j = 0; j < n; j += f32::lanes) {
    const auto sum = [&](int gate) NSK_INLINE_LAMBDA {
      return simd::add(simd::load(r.input + gate * n + j), simd::load(r.product + gate * n + j));
    };
    const auto seen = [&](int gate, f32 x, f32 cell) NSK_INLINE_LAMBDA {
      return peephole == nullptr ? x : simd::fma(simd::load(peephole + gate * n + j), cell, x);
    };
    const f32 before = load_up_to(r.c + j, n - j);
    const f32 in = of.f(seen(0, sum(0), before));
    const f32 forget = input_forget ? simd::sub(simd::splat(1), in) : of.f(seen(2, sum(2), before));
    const f32 cell = of.limited_cell(simd::fma(forget, before, simd::mul(in, of.g(sum(3)))));
    store_up_to(r.to_c + j, n - j, cell);
    store_up_to(r.to_h + j, n - j, simd::mul(of.f(seen(1, sum(1), cell)), of.h(cell)));
  }
}

/// h from the update gate z, the argument of the hidden gate, and h before.
template <bool Usual>
NSK_INLINE void store_gru(const gate_row& r, const gate_functions<Usual>& of, int j, f32 z, f32 argument) {
  const f32 fresh = simd::mul(simd::sub(simd::splat(1), z), of.g(argument));
  store_up_to(r.to_h + j, r.hidden - j, simd::fma(z, load_up_to(r.h + j, r.hidden - j), fresh));
}

/// gru with linear_before_reset: all gates at once.
template <bool Usual>
NSK_ONE_COPY inline void gru_row(const gate_row& r, const gate_functions<Usual>& of) {
  const int n = r.hidden;
  for (int j = 0; j < n; j += f32::lanes) {
    const auto sum = [&](int gate) NSK_INLINE_LAMBDA {
      return simd::add(simd::load(r.input + gate * n + j), simd::load(r.product + gate * n + j));
    };
    const f32 z = of.f(sum(0)), reset = of.f(sum(1));
    const f32 argument = simd::fma(reset, simd::load(r.product + 2 * n + j), simd::load(r.input + 2 * n + j));
    store_gru(r, of, j, z, argument);
  }
}

/// gru without it, first half: the products become z and reset * h.
template <bool Usual>
NSK_ONE_COPY inline void gru_reset_row(const gate_row& r, const gate_functions<Usual>& of) {
  const int n = r.hidden;
  for (int j = 0; j < n; j += f32::lanes) {
    const f32 reset = of.f(simd::add(simd::load(r.input + n + j), simd::load(r.product + n + j)));
    store_up_to(r.product + n + j, n - j, simd::mul(reset, load_up_to(r.h + j, n - j)));
  }
  for (int j = 0; j < n; j += f32::lanes)
    store_up_to(r.product + j, n - j, of.f(simd::add(simd::load(r.input + j), simd::load(r.product + j))));
}
/// Second half: product[0] is z, product[2] the product with reset * h.
template <bool Usual>
NSK_ONE_COPY inline void gru_hidden_row(const gate_row& r, const gate_functions<Usual>& of) {
  const int n = r.hidden;
  for (int j = 0; j < n; j += f32::lanes)
    store_gru(r, of, j, simd::load(r.product + j),
              simd::add(simd::load(r.input + 2 * n + j), simd::load(r.product + 2 * n + j)));
}

inline void rnn_row(const gate_row& r, const gate_functions<false>& of) {
  for (int j = 0; j < r.hidden; j += f32::lanes)
    store_up_to(r.to_h + j, r.hidden - j, of.f(simd::add(simd::load(r.input + j), simd::load(r.product + j))));
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
