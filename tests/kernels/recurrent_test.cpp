// SPDX-License-Identifier: MIT
// Recurrent layers against double precision: every kind and option, any tiles; the same bits on every instruction set.
#include <netsuke/kernels/dense/recurrent.hpp>
#include <oracle/naive_recurrent.hpp>
#include "tail_fixture.hpp"

namespace {
using nsk::recurrent_function;
using nsk::recurrent_kind;

oracle::number_function oracle_of(const nsk::recurrent_gate& gate) {
  const double a = static_cast<double>(gate.alpha), b = static_cast<double>(gate.beta);
  switch (gate.fn) {
    case recurrent_function::sigmoid: return [](double x) { return 1 / (1 + std::exp(-x)); };
    case recurrent_function::tanh: return [](double x) { return std::tanh(x); };
    case recurrent_function::relu: return [](double x) { return std::fmax(x, 0.0); };
    case recurrent_function::affine: return [=](double x) { return a * x + b; };
    case recurrent_function::leaky_relu: return [=](double x) { return x < 0 ? a * x : x; };
    case recurrent_function::thresholded_relu: return [=](double x) { return x >= a ? x : 0; };
    case recurrent_function::scaled_tanh: return [=](double x) { return a * std::tanh(b * x); };
    case recurrent_function::hard_sigmoid: return [=](double x) { return std::fmax(0, std::fmin(1, a * x + b)); };
    case recurrent_function::elu: return [=](double x) { return x > 0 ? x : a * (std::exp(x) - 1); };
    case recurrent_function::softsign: return [](double x) { return x / (1 + std::fabs(x)); };
    case recurrent_function::softplus: return [](double x) { return std::log(1 + std::exp(x)); };
  }
  return nullptr;
}

/// A layer with random weights, and everything that a kernel needs to run it.
struct sample {
  recurrent_kind kind = recurrent_kind::lstm;
  int batch = 1, time_steps = 1, directions = 1, hidden = 1;
  bool peephole = false, input_forget = false, linear_before_reset = false;
  float clip = 0, cell_clip = 0;
  std::uint32_t reverse = 0;
  std::vector<int> lengths;
  std::vector<nsk::recurrent_gate> functions;

  int gates() const { return nsk::recurrent_gates(kind); }
  int positions() const { return time_steps + nsk::recurrent_final_rows(kind); }
};

sample usual(recurrent_kind kind, int batch, int time_steps, int directions, int hidden) {
  sample s;
  s.kind = kind;
  s.batch = batch;
  s.time_steps = time_steps;
  s.directions = directions;
  s.hidden = hidden;
  for (int d = 0; d < directions; ++d)
    for (int i = 0; i < nsk::recurrent_functions(kind); ++i)
      s.functions.push_back(
          {i == 0 && kind != recurrent_kind::rnn ? recurrent_function::sigmoid : recurrent_function::tanh, 0, 0});
  s.reverse = directions == 2 ? 2 : 0;
  return s;
}

class fixture {
 public:
  fixture(const sample& s, tail::random& r)
      : m_s(s),
        m_random(r),
        m_input({s.batch, s.time_steps, s.directions, s.gates() * s.hidden}, row_layout()),
        m_h({s.batch, s.directions, s.hidden}, row_layout()),
        m_c({s.batch, s.directions, s.hidden}, row_layout()),
        m_output({s.batch, s.positions(), s.directions, s.hidden}, row_layout()) {
    m_input.fill_random(r, 1.5f);
    m_h.fill_random(r, 0.9f);
    m_c.fill_random(r, 0.9f);
    for (int d = 0; d < s.directions; ++d) add_direction(d);
    m_peephole.resize(m_peephole.size() + 16);  // kernels may read a register further
    m_weights.resize(m_weights.size() + 16);
    m_scratch.resize(static_cast<std::size_t>(nsk::kernels::recurrent_scratch_bytes(s.kind, s.batch, s.hidden)) + 64);
    m_args.input = m_input.view();
    m_args.initial_h = m_h.view();
    m_args.initial_c = m_c.view();
    m_args.output = m_output.view();
    m_args.weights = m_weights.data();
    m_args.peephole = s.peephole ? m_peephole.data() : nullptr;
    m_args.kind = s.kind;
    m_args.reverse = s.reverse;
    m_args.input_forget = s.input_forget;
    m_args.linear_before_reset = s.linear_before_reset;
    m_args.clip = s.clip;
    m_args.cell_clip = s.cell_clip;
    const auto each = static_cast<std::size_t>(nsk::recurrent_functions(s.kind));
    for (std::size_t i = 0; i < s.functions.size(); ++i) m_args.gate[i / each][i % each] = s.functions[i];
    m_args.flags = &m_flags;
    if (s.lengths.empty()) return;
    m_lengths.assign(s.lengths.begin(), s.lengths.end());
    m_args.lengths.data = reinterpret_cast<std::byte*>(m_lengths.data());
    m_args.lengths.type = nsk::dtype::int32;
    m_args.lengths.rank = 1;
    m_args.lengths.shape[0] = s.batch;
    m_args.lengths.stride[0] = 1;
  }

  /// Runs the kernel on tiles of rows and directions, and compares.
  void check(tail::digest& hash, double k) {
    tail::run_checked(
        m_random, m_output, [&](const nsk::tile_range& t) { nsk::kernels::recurrent(m_args, t, scratch()); },
        m_s.positions(), 1, m_s.hidden);
    const oracle::array want = expected();
    double largest = 0;
    for (const double v : want.data) largest = std::fmax(largest, std::fabs(v));
    tail::check_close(m_output, want, k, largest);
    hash.add(m_output);
  }
  std::uint32_t flags() const { return m_flags; }

 private:
  static tail::layout row_layout() { return {}; }
  std::byte* scratch() {
    return m_scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(m_scratch.data()) % 64) % 64;
  }
  void add_direction(int d) {
    oracle::recurrent_layer l;
    l.kind = static_cast<oracle::recurrent_layer::kind_type>(m_s.kind);
    l.hidden = m_s.hidden;
    const int rows = m_s.gates() * m_s.hidden;
    const float scale = 2.0f / std::sqrt(static_cast<float>(m_s.hidden));
    for (int i = 0; i < rows * m_s.hidden; ++i) l.weights.push_back(static_cast<double>(m_random.real(scale)));
    for (int i = 0; i < rows; ++i) l.bias.push_back(static_cast<double>(m_random.real(0.3f)));
    for (int i = 0; i < 3 * m_s.hidden; ++i) m_peephole.push_back(m_random.real());
    if (m_s.peephole) l.peephole.assign(m_peephole.end() - 3 * m_s.hidden, m_peephole.end());
    l.input_forget = m_s.input_forget;
    l.linear_before_reset = m_s.linear_before_reset;
    l.reverse = (m_s.reverse >> d & 1u) != 0;
    l.clip = static_cast<double>(m_s.clip);
    l.cell_clip = static_cast<double>(m_s.cell_clip);
    const auto each = static_cast<std::size_t>(nsk::recurrent_functions(m_s.kind));
    l.f = oracle_of(m_s.functions[static_cast<std::size_t>(d) * each]);
    if (each > 1) l.g = oracle_of(m_s.functions[static_cast<std::size_t>(d) * each + 1]);
    if (each > 2) l.h = oracle_of(m_s.functions[static_cast<std::size_t>(d) * each + 2]);
    const bool alone = m_s.kind == recurrent_kind::gru && !m_s.linear_before_reset;
    pack(l, 0, alone ? 2 : m_s.gates());
    if (alone) pack(l, 2, 1);
    m_layers.push_back(std::move(l));
  }
  void pack(const oracle::recurrent_layer& l, int first, int gates) {
    const int channels = gates * l.hidden, start = first * l.hidden;
    for (std::int64_t p = 0; p < nsk::panel_count(channels); ++p) {
      const int width = static_cast<int>(nsk::width_of_panel(channels, p)), left = static_cast<int>(p) * 16;
      for (int c = left; c < left + width; ++c)
        m_weights.push_back(c < channels ? static_cast<float>(l.bias[static_cast<std::size_t>(start + c)]) : 0);
      for (int k = 0; k < l.hidden; ++k)
        for (int c = left; c < left + width; ++c)
          m_weights.push_back(
              c < channels ? static_cast<float>(l.weights[static_cast<std::size_t>((start + c) * l.hidden + k)]) : 0);
    }
  }
  oracle::array expected() {
    oracle::array want(m_output.shape());
    const oracle::array x = m_input.read(), h = m_h.read(), c = m_c.read();
    for (int b = 0; b < m_s.batch; ++b)
      for (int d = 0; d < m_s.directions; ++d) {
        const oracle::recurrent_layer& l = m_layers[static_cast<std::size_t>(d)];
        std::vector<double> state, cell;
        for (int j = 0; j < m_s.hidden; ++j) state.push_back(h({b, d, j})), cell.push_back(c({b, d, j}));
        const int given = m_s.lengths.empty() ? m_s.time_steps : m_s.lengths[static_cast<std::size_t>(b)];
        const int length = std::max(0, std::min(given, m_s.time_steps));
        const auto store = [&](int position, const std::vector<double>& v) {
          for (int j = 0; j < m_s.hidden; ++j) want({b, position, d, j}) = v[static_cast<std::size_t>(j)];
        };
        for (int i = 0; i < length; ++i) {
          const int t = l.reverse ? length - 1 - i : i;
          std::vector<double> line;
          for (int j = 0; j < m_s.gates() * m_s.hidden; ++j) line.push_back(x({b, t, d, j}));
          l.step(line, state, cell);
          store(t, state);
        }
        store(m_s.time_steps, state);
        if (m_s.kind == recurrent_kind::lstm) store(m_s.time_steps + 1, cell);
      }
    return want;
  }

  sample m_s;
  tail::random& m_random;
  tail::tensor m_input, m_h, m_c, m_output;
  std::vector<oracle::recurrent_layer> m_layers;
  std::vector<float> m_weights, m_peephole;
  std::vector<std::int32_t> m_lengths;
  std::vector<std::byte> m_scratch;
  nsk::kernels::recurrent_args m_args{};
  std::uint32_t m_flags = 0;
};

constexpr recurrent_kind kinds[] = {recurrent_kind::rnn, recurrent_kind::gru, recurrent_kind::lstm};

TEST_CASE("recurrent: hidden lengths around registers, batches around blocks, directions") {
  tail::random r(31);
  tail::digest hash;
  for (const recurrent_kind kind : kinds)
    for (const int hidden : {1, 3, 7, 8, 9, 16, 17, 24, 33})
      for (const int directions : {1, 2})
        for (const int batch : {1, 2, 5, 26}) {
          if (batch == 26 && hidden > 9) continue;
          sample s = usual(kind, batch, 1 + r.below(4), directions, hidden);
          s.linear_before_reset = kind == recurrent_kind::gru && r.coin();
          if (directions == 1 && r.coin()) s.reverse = 1;
          fixture f(s, r);
          f.check(hash, 24);
          CHECK(f.flags() == 0);
        }
  CHECK(hash.value() == 1862286767858981039u);
}

TEST_CASE("recurrent: peepholes, coupled gates, clipping and lengths, in every combination") {
  tail::random r(32);
  tail::digest hash;
  for (const recurrent_kind kind : kinds)
    for (int options = 0; options < 32; ++options) {
      sample s = usual(kind, 4, 5, 2, 11);
      const bool is_lstm = kind == recurrent_kind::lstm;
      s.peephole = is_lstm && (options & 1) != 0;
      s.input_forget = is_lstm && (options & 2) != 0;
      s.linear_before_reset = kind == recurrent_kind::gru && (options & 1) != 0;
      if ((options & 4) != 0) s.clip = 0.4f;
      if ((options & 8) != 0) s.lengths = {3, 5, 0, 1};
      if ((options & 16) != 0) s.reverse = 3;
      fixture f(s, r);
      f.check(hash, 24);
      CHECK(f.flags() == 0);
    }
  CHECK(hash.value() == 2814527735758391940u);
}

TEST_CASE("recurrent: a limit of the cell, with the usual functions and with others") {
  tail::random r(34);
  tail::digest hash;
  for (int options = 0; options < 16; ++options) {
    sample s = usual(recurrent_kind::lstm, 3, 6, 2, 19);
    s.cell_clip = 0.2f;
    s.peephole = (options & 1) != 0;
    s.input_forget = (options & 2) != 0;
    if ((options & 4) != 0) s.clip = 0.4f;
    if ((options & 8) != 0) s.functions[2] = {recurrent_function::relu, 0, 0};
    fixture(s, r).check(hash, 24);
  }
  CHECK(hash.value() == 432599417312591200u);
}

TEST_CASE("recurrent: every function in every gate") {
  tail::random r(33);
  tail::digest hash;
  for (const recurrent_kind kind : kinds)
    for (int fn = 0; fn <= static_cast<int>(recurrent_function::softplus); ++fn)
      for (int gate = 0; gate < nsk::recurrent_functions(kind); ++gate) {
        sample s = usual(kind, 2, 3, 2, 10);
        s.functions[static_cast<std::size_t>(gate)] = {static_cast<recurrent_function>(fn), 0.7f, 0.3f};
        fixture(s, r).check(hash, 48);
      }
  CHECK(hash.value() == 13290975978689898084u);
}

TEST_CASE("recurrent: lengths outside are clamped and say so") {
  tail::random r(34);
  tail::digest hash;
  sample s = usual(recurrent_kind::lstm, 3, 4, 1, 8);
  s.lengths = {-1, 7, 2};
  fixture f(s, r);
  f.check(hash, 24);
  CHECK(f.flags() == nsk::index_clamped);
}
}
