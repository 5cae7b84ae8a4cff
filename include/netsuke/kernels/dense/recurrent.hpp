// SPDX-License-Identifier: MIT
#pragma once
/// Recurrence of LSTM, GRU and RNN layers: the part of a layer that goes from one time step to the next. The products
/// with the layer's inputs are a fully connected stride before it.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/core/flags.hpp>
#include <netsuke/kernels/product/gemm.hpp>
#include <netsuke/kernels/dense/recurrent_gates.hpp>
#include <netsuke/format/scratch.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Element [i, j, k, 0] of a tensor of floats; dimensions from `rank - 1` on are not counted.
inline float* line_at(const tensor_view& v, int i, int j, int k = 0) {
  const std::ptrdiff_t last = v.rank == 4 ? k * v.stride[2] : 0;
  return v.as<float>() + i * v.stride[0] + j * v.stride[1] + last;
}
NSK_INLINE void copy_line(const float* from, float* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

/// Some rows of the batch in one direction: all time steps, from the first to the last.
template <class Weight, class Kernels>
class recurrent_block {
 public:
  recurrent_block(const recurrent_args& a, int direction, int first, int rows, float* scratch)
      : m_a(a),
        m_direction(direction),
        m_first(first),
        m_rows(rows),
        m_hidden(a.output.shape[3]),
        m_time_steps(a.input.shape[1]),
        m_pitch(static_cast<int>(padded_channels(std::int64_t{recurrent_gates(a.kind)} * m_hidden))),
        m_backwards((a.reverse >> direction & 1u) != 0),
        m_scratch(scratch) {
    m_weights = static_cast<const Weight*>(a.weights) +
                direction * recurrent_weight_elements<Weight>(a.kind, a.linear_before_reset, m_hidden);
    for (int r = 0; r < rows; ++r) m_length[r] = length_of(first + r);
  }

  template <bool Usual>
  void run() {
    const gate_functions<Usual> functions(m_a, m_direction);
    for (int i = 0; i < m_time_steps; ++i) {
      const int count = collect(i);
      if (count == 0) break;
      switch (m_a.kind) {
        case recurrent_kind::lstm: {
          multiply(count, 4, m_weights);
          const float* peephole =
              m_a.peephole == nullptr ? nullptr : m_a.peephole + std::ptrdiff_t{3} * m_direction * m_hidden;
          for (int r = 0; r < count; ++r) lstm_row(m_gates[r], functions, peephole, m_a.input_forget);
          break;
        }
        case recurrent_kind::gru: gru(count, functions); break;
        case recurrent_kind::rnn:
          multiply(count, 1, m_weights);
          if constexpr (!Usual)
            for (int r = 0; r < count; ++r) rnn_row(m_gates[r], functions);
          break;
      }
    }
    for (int r = 0; r < m_rows; ++r) finish(r);
  }

 private:
  /// How many time steps a row has.
  int length_of(int row) const {
    if (m_a.lengths.data == nullptr) return m_time_steps;
    std::int32_t length;
    std::memcpy(&length, m_a.lengths.data + row * m_a.lengths.stride[0] * std::ptrdiff_t{sizeof length}, sizeof length);
    const std::int32_t clamped = length < 0 ? 0 : length > m_time_steps ? m_time_steps : length;
    if (clamped != length) raise(m_a.flags, index_clamped);
    return clamped;
  }
  /// Where the i-th time step of a row is.
  int time_step(int row, int i) const { return m_backwards ? m_length[row] - 1 - i : i; }
  float* output(int row, int position) const { return line_at(m_a.output, m_first + row, position, m_direction); }
  const float* initial(const tensor_view& v, int row) const { return line_at(v, m_first + row, m_direction); }
  const float* last_h(int row, int done) const {
    return done == 0 ? initial(m_a.initial_h, row) : output(row, time_step(row, done - 1));
  }

  /// Collects the rows that have an i-th time step; returns how many.
  int collect(int i) {
    int count = 0;
    for (int row = 0; row < m_rows; ++row) {
      if (i >= m_length[row]) continue;
      const int at = time_step(row, i);
      gate_row& g = m_gates[count];
      g.input = line_at(m_a.input, m_first + row, at, m_direction);
      g.product = m_scratch + std::ptrdiff_t{count} * m_pitch;
      g.h = last_h(row, i);
      g.to_h = output(row, at);
      g.hidden = m_hidden;
      if (m_a.kind == recurrent_kind::lstm) {
        g.to_c = output(row, m_time_steps + 1);
        g.c = i == 0 ? initial(m_a.initial_c, row) : g.to_c;
      }
      m_lines[count++] = {g.h, g.product, nullptr};
    }
    return count;
  }
  void multiply(int count, int gates, const Weight* weights) const {
    const epilogue none;
    const int channels = gates * m_hidden;
    gemm(count, {1, 1, m_hidden}, gemm_weights<Weight>{weights, channels, m_hidden, 0}, 0, channels, m_lines,
         prepare<typename Kernels::without_functions>(none, 0));
  }
  template <bool Usual>
  void gru(int count, const gate_functions<Usual>& functions) {
    if (m_a.linear_before_reset) {
      multiply(count, 3, m_weights);
      for (int r = 0; r < count; ++r) gru_row(m_gates[r], functions);
      return;
    }
    multiply(count, 2, m_weights);
    for (int r = 0; r < count; ++r) {
      gru_reset_row(m_gates[r], functions);
      m_lines[r] = {m_gates[r].product + m_hidden, m_gates[r].product + 2 * m_hidden, nullptr};
    }
    multiply(count, 1, m_weights + panel_elements<Weight>(2 * std::int64_t{m_hidden}, m_hidden));
    for (int r = 0; r < count; ++r) gru_hidden_row(m_gates[r], functions);
  }
  /// Writes the last h, and what a row that ends early lacks.
  void finish(int row) const {
    for (int i = m_length[row]; i < m_time_steps; ++i) {
      float* const to = output(row, i);
      for (int k = 0; k < m_hidden; ++k) to[k] = 0;
    }
    copy_line(last_h(row, m_length[row]), output(row, m_time_steps), m_hidden);
    if (m_a.kind == recurrent_kind::lstm && m_length[row] == 0)
      copy_line(initial(m_a.initial_c, row), output(row, m_time_steps + 1), m_hidden);
  }

  const recurrent_args& m_a;
  int m_direction, m_first, m_rows, m_hidden, m_time_steps, m_pitch;
  bool m_backwards;
  float* m_scratch;
  const Weight* m_weights;
  int m_length[recurrent_block_rows];
  gate_row m_gates[recurrent_block_rows];
  tile_row m_lines[recurrent_block_rows];
};

}

/// Computes whole rows of the batch in some directions: rows of the tile are a multiple of the output's second
/// dimension, its channels are whole. Lengths outside [0, T] are clamped, and raise index_clamped. `scratch` has
/// recurrent_scratch_bytes. The output overlaps no input.
template <class Weight = float, class Kernels = all_kernels>
inline void recurrent(const recurrent_args& a, const tile_range& t, std::byte* scratch) {
  const int positions = a.output.shape[1], end = t.row_end / positions;
  for (int direction = t.pixel_begin; direction < t.pixel_end; ++direction) {
    const bool usual = a.kind != recurrent_kind::rnn && impl::has_usual_gates(a, direction);
    for (int row = t.row_begin / positions; row < end; row += recurrent_block_rows) {
      const int rows = end - row < recurrent_block_rows ? end - row : recurrent_block_rows;
      impl::recurrent_block<Weight, Kernels> block(a, direction, row, rows, reinterpret_cast<float*>(scratch));
      if (usual)
        block.template run<true>();
      else
        block.template run<false>();
    }
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
