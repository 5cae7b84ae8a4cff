// SPDX-License-Identifier: MIT
/// Layers over time: RNN, GRU and LSTM, in both directions, by ONNX's formulas.
#include <algorithm>
#include <cmath>
#include "graph/recurrent.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

/// Attributes and lengths of one call, checked.
struct layer {
  recurrent_attributes a;
  std::size_t time_axis, batch_axis;
  std::int64_t time_steps, batch, inputs, hidden;

  explicit layer(call& c) : a(recurrent_attributes_of(c.op(), "node '" + c.op().name + "' (" + c.op().op + ")")) {
    const bool is_lstm = a.kind == recurrent_kind::lstm;
    c.require_inputs(3, is_lstm ? 8 : 6);
    for (const std::size_t i : {0, 1, 2}) {
      c.require_rank(i, 3, 3);
      c.require_float(i);
    }
    c.require(!a.batch_first || c.op().version >= 14, "layout exists from opset 14 on");
    time_axis = a.batch_first ? 1 : 0;
    batch_axis = 1 - time_axis;
    time_steps = c.shape(0)[time_axis];
    batch = c.shape(0)[batch_axis];
    inputs = c.shape(0)[2];
    hidden = c.shape(2)[2];
    c.require(time_steps > 0 && hidden > 0, "it has no elements");
    c.require(c.op().integer("hidden_size", hidden) == hidden, "hidden_size is not that of R");
    const std::int64_t d = a.directions, rows = a.gates() * hidden;
    for (const std::size_t i : {3, 5, 6, 7})
      if (c.has(i)) c.require_float(i);
    if (c.has(4)) c.require(is_integer(c.type(4)), "sequence_lens must be integers");
    require_shape(c, 1, {d, rows, inputs}, "W");
    require_shape(c, 2, {d, rows, hidden}, "R");
    require_shape(c, 3, {d, 2 * rows}, "B");
    require_shape(c, 4, {batch}, "sequence_lens");
    require_shape(c, 5, state_shape(), "initial_h");
    if (!is_lstm) return;
    require_shape(c, 6, state_shape(), "initial_c");
    require_shape(c, 7, {d, 3 * hidden}, "P");
  }
  shape_t state_shape() const {
    return a.batch_first ? shape_t{batch, a.directions, hidden} : shape_t{a.directions, batch, hidden};
  }
  shape_t sequence_shape() const {
    return a.batch_first ? shape_t{batch, time_steps, a.directions, hidden}
                         : shape_t{time_steps, a.directions, batch, hidden};
  }
  /// Element 0 of h at a time step in Y, of a state, and of an input.
  std::int64_t sequence_at(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return (a.batch_first ? (b * time_steps + t) * a.directions + d : (t * a.directions + d) * batch + b) * hidden;
  }
  std::int64_t state_at(std::int64_t d, std::int64_t b) const {
    return (a.batch_first ? b * a.directions + d : d * batch + b) * hidden;
  }
  std::int64_t input_at(std::int64_t t, std::int64_t b) const {
    return (a.batch_first ? b * time_steps + t : t * batch + b) * inputs;
  }

 private:
  static void require_shape(call& c, std::size_t i, const shape_t& shape, const char* name) {
    if (c.has(i) && c.shape(i) != shape)
      c.fail(std::string(name) + " must have shape " + to_string(shape) + ", not " + to_string(c.shape(i)));
  }
};

void infer_layer(call& c) {
  const layer l(c);
  c.declare(0, c.type(0), l.sequence_shape());
  c.declare(1, c.type(0), l.state_shape());
  if (l.a.kind == recurrent_kind::lstm) c.declare(2, c.type(0), l.state_shape());
}

double apply(const recurrent_activation& a, double x) {
  switch (a.fn) {
    case recurrent_function::sigmoid: return 1 / (1 + std::exp(-x));
    case recurrent_function::tanh: return std::tanh(x);
    case recurrent_function::relu: return x > 0 ? x : 0;
    case recurrent_function::affine: return a.alpha * x + a.beta;
    case recurrent_function::leaky_relu: return x < 0 ? a.alpha * x : x;
    case recurrent_function::thresholded_relu: return x >= a.alpha ? x : 0;
    case recurrent_function::scaled_tanh: return a.alpha * std::tanh(a.beta * x);
    case recurrent_function::hard_sigmoid: return std::max(0.0, std::min(1.0, a.alpha * x + a.beta));
    case recurrent_function::elu: return x > 0 ? x : a.alpha * std::expm1(x);
    case recurrent_function::softsign: return x / (1 + std::fabs(x));
    case recurrent_function::softplus: return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

/// One direction of one row of the batch, one time step at a time.
class sequence {
 public:
  sequence(call& c, const layer& l, std::int64_t direction, std::int64_t row)
      : m_call(c), m_layer(l), m_direction(direction), m_h(state(5, row)), m_c(state(6, row)) {}

  /// Continues with the input `x`.
  void step(const double* x) {
    const std::vector<double> before = m_h;
    const std::int64_t n = m_layer.hidden;
    if (m_layer.a.kind == recurrent_kind::rnn) {
      for (std::int64_t j = 0; j < n; ++j) h(j) = f(0, from_input(x, 0, j) + from_h(before, 0, j));
    } else if (m_layer.a.kind == recurrent_kind::gru) {
      gru(x, before);
    } else {
      for (std::int64_t j = 0; j < n; ++j) lstm(x, before, j);
    }
  }
  const std::vector<double>& hidden() const { return m_h; }
  const std::vector<double>& cell() const { return m_c; }

 private:
  std::vector<double> state(std::size_t input, std::int64_t row) const {
    std::vector<double> v(static_cast<std::size_t>(m_layer.hidden), 0.0);
    if (!m_call.has(input)) return v;
    const double* from = m_call.floats(input) + m_layer.state_at(m_direction, row);
    std::copy(from, from + m_layer.hidden, v.begin());
    return v;
  }
  double& h(std::int64_t j) { return m_h[static_cast<std::size_t>(j)]; }
  /// A gate: its function of the clipped argument. What h makes of c is not clipped, as in ONNX Runtime.
  double f(std::size_t function, double x) const {
    const double maximum = m_layer.a.clip;
    if (maximum > 0) x = x > maximum ? maximum : x < -maximum ? -maximum : x;
    return apply(activation(function), x);
  }
  const recurrent_activation& activation(std::size_t function) const {
    const auto all = static_cast<std::size_t>(m_layer.a.functions());
    return m_layer.a.activations[static_cast<std::size_t>(m_direction) * all + function];
  }
  /// Row of a gate's element in W and R.
  std::int64_t row_of(int gate, std::int64_t j) const {
    return (m_direction * m_layer.a.gates() + gate) * m_layer.hidden + j;
  }
  double bias(int gate, std::int64_t j, int half) const {
    if (!m_call.has(3)) return 0;
    const std::int64_t g = m_layer.a.gates();
    return m_call.floats(3)[((m_direction * 2 + half) * g + gate) * m_layer.hidden + j];
  }
  double from_input(const double* x, int gate, std::int64_t j) const {
    const double* w = m_call.floats(1) + row_of(gate, j) * m_layer.inputs;
    double sum = bias(gate, j, 0);
    for (std::int64_t k = 0; k < m_layer.inputs; ++k) sum += w[k] * x[k];
    return sum;
  }
  double from_h(const std::vector<double>& before, int gate, std::int64_t j) const {
    const double* r = m_call.floats(2) + row_of(gate, j) * m_layer.hidden;
    double sum = bias(gate, j, 1);
    for (std::int64_t k = 0; k < m_layer.hidden; ++k) sum += r[k] * before[static_cast<std::size_t>(k)];
    return sum;
  }
  double peephole(int gate, std::int64_t j, double cell) const {
    return m_call.has(7) ? m_call.floats(7)[(m_direction * 3 + gate) * m_layer.hidden + j] * cell : 0;
  }
  void lstm(const double* x, const std::vector<double>& before, std::int64_t j) {
    const auto argument = [&](int gate) { return from_input(x, gate, j) + from_h(before, gate, j); };
    double& cell = m_c[static_cast<std::size_t>(j)];
    const double i = f(0, argument(0) + peephole(0, j, cell));
    const double forget = m_layer.a.input_forget ? 1 - i : f(0, argument(2) + peephole(2, j, cell));
    cell = forget * cell + i * f(1, argument(3));
    const double maximum = m_layer.a.cell_clip;
    if (maximum > 0) cell = cell > maximum ? maximum : cell < -maximum ? -maximum : cell;
    h(j) = f(0, argument(1) + peephole(1, j, cell)) * apply(activation(2), cell);
  }
  void gru(const double* x, const std::vector<double>& before) {
    std::vector<double> reset(before.size()), passed(before.size());
    for (std::int64_t j = 0; j < m_layer.hidden; ++j) {
      const auto at = static_cast<std::size_t>(j);
      reset[at] = f(0, from_input(x, 1, j) + from_h(before, 1, j));
      passed[at] = reset[at] * before[at];
    }
    for (std::int64_t j = 0; j < m_layer.hidden; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double z = f(0, from_input(x, 0, j) + from_h(before, 0, j));
      const double history = m_layer.a.linear_before_reset ? reset[at] * from_h(before, 2, j) : from_h(passed, 2, j);
      h(j) = (1 - z) * f(1, from_input(x, 2, j) + history) + z * before[at];
    }
  }

  call& m_call;
  const layer& m_layer;
  std::int64_t m_direction;
  std::vector<double> m_h, m_c;
};

double work_of_layer(call& c) {
  const layer l(c);
  return 2 * as_work(l.time_steps) * as_work(l.batch) * l.a.directions * l.a.gates() * as_work(l.hidden) *
         (as_work(l.inputs) + as_work(l.hidden) + 8);
}

void evaluate_layer(call& c) {
  const layer l(c);
  const auto store = [&](std::size_t output, std::int64_t at, const std::vector<double>& v) {
    if (c.wants(output)) std::copy(v.begin(), v.end(), c.out_floats(output) + at);
  };
  for (std::int64_t d = 0; d < l.a.directions; ++d)
    for (std::int64_t b = 0; b < l.batch; ++b) {
      const std::int64_t length = c.has(4) ? std::clamp<std::int64_t>(c.integers(4)[b], 0, l.time_steps) : l.time_steps;
      sequence s(c, l, d, b);
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t t = l.a.is_backward(static_cast<int>(d)) ? length - 1 - i : i;
        s.step(c.floats(0) + l.input_at(t, b));
        store(0, l.sequence_at(t, d, b), s.hidden());
      }
      store(1, l.state_at(d, b), s.hidden());
      if (l.a.kind == recurrent_kind::lstm) store(2, l.state_at(d, b), s.cell());
    }
}

}

void add_recurrent(table& t) {
  t["RNN"] = {infer_layer, evaluate_layer, 7, work_of_layer};
  t["GRU"] = {infer_layer, evaluate_layer, 7, work_of_layer};
  t["LSTM"] = {infer_layer, evaluate_layer, 7, work_of_layer};
}

}
