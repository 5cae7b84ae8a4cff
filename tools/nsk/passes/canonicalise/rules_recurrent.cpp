// SPDX-License-Identifier: MIT
/// RNN, GRU and LSTM: one product of all time steps with the input weights, then the recurrence; outputs are views of
/// its result.
#include "graph/recurrent.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

/// Inputs of the source node.
enum input : std::size_t { of_x, of_w, of_r, of_b, of_lengths, of_h, of_c, of_p };

/// x W + biases as [batch, time steps, directions, gates * hidden]. The recurrent biases join those of the input,
/// except where linear_before_reset multiplies one by the reset gate.
int recurrent_projection(context& c, const recurrent_attributes& a, recurrent_parameters& r) {
  const shape_t& x = c.in_shape(of_x);
  const std::vector<double> w = weights(c, of_w, "W");
  const std::int64_t rows = a.gates() * r.hidden, outputs = a.directions * rows, depth = x[2];
  dense_parameters d;
  d.depth = static_cast<int>(depth);
  d.outputs = static_cast<int>(outputs);
  d.weights.resize(w.size());
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t k = 0; k < depth; ++k)
      d.weights[static_cast<std::size_t>(k * outputs + o)] = w[static_cast<std::size_t>(o * depth + k)];
  d.bias.assign(static_cast<std::size_t>(outputs), 0.0);
  r.bias.assign(d.bias.size(), 0.0);
  const std::vector<double> b = c.has(of_b) ? numbers(c, of_b, "B") : std::vector<double>(2 * d.bias.size(), 0.0);
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::int64_t direction = o / rows, row = o % rows;
    const auto at = static_cast<std::size_t>(o);
    const double own = b[static_cast<std::size_t>(2 * direction * rows + row)],
                 recurrent = b[static_cast<std::size_t>((2 * direction + 1) * rows + row)];
    const bool gated = a.linear_before_reset && row >= 2 * r.hidden;
    d.bias[at] = gated ? own : own + recurrent;
    r.bias[at] = gated ? recurrent : 0;
  }
  const int product = c.temporary("inputs", {x[0], x[1], outputs});
  c.emit(std::move(d), {c.in(of_x)}, product);
  const int split = reshaped(c, product, {x[0], x[1], a.directions, rows});
  return a.batch_first ? split : transposed(c, split, {1, 0, 2, 3}, "turned");
}

/// An initial state as [batch, directions, hidden]; zeros where the node has none.
int recurrent_state(context& c, std::size_t i, const recurrent_attributes& a, const shape_t& shape) {
  if (c.has(i)) return a.batch_first ? c.in(i) : transposed(c, c.in(i), {1, 0, 2}, "initial" + std::to_string(i));
  const int zeros = constant(c, "zeros" + std::to_string(i), {1, 1, shape[2]},
                             std::vector<double>(static_cast<std::size_t>(shape[2]), 0.0));
  const int result = c.temporary("initial" + std::to_string(i), shape);
  c.emit(expand_parameters{}, {zeros}, result);
  return result;
}

/// Lengths that are data, or shorter than the input; no_value where every row has all time steps.
int recurrent_lengths(context& c, std::int64_t time_steps) {
  if (!c.has(of_lengths)) return no_value;
  const value& v = c.input(of_lengths);
  if (v.type != element::i32) c.refuse("sequence_lens must be int32");
  if (!v.constant) return c.in(of_lengths);
  bool all = true;
  for (std::int64_t length : integers(c, of_lengths, "sequence_lens")) {
    if (length < 0 || length > time_steps)
      c.refuse("sequence_lens holds " + std::to_string(length) + ", but the input has " + std::to_string(time_steps) +
               " time steps");
    all = all && length == time_steps;
  }
  return all ? no_value : c.in(of_lengths);
}

/// Y, Y_h and Y_c as views of [batch, time steps + final rows, directions, hidden].
void recurrent_outputs(context& c, const recurrent_attributes& a, int states, std::int64_t time_steps) {
  const shape_t all = c.shape(states);
  const auto rows = [&](std::int64_t start, std::int64_t count, const std::string& name, int into) {
    const int part = into != no_value ? into : c.temporary(name, {all[0], count, all[2], all[3]});
    c.emit(slice_parameters{{0, start, 0, 0}, {1, 1, 1, 1}}, {states}, part);
    return part;
  };
  if (c.wants(0)) {
    const int y = rows(0, time_steps, "sequence", a.batch_first ? c.out() : no_value);
    if (!a.batch_first) transposed(c, y, {1, 2, 0, 3}, "", c.out());
  }
  for (std::size_t i = 1; i < 3; ++i) {
    if (!c.wants(i)) continue;
    const int last = rows(time_steps + static_cast<std::int64_t>(i) - 1, 1, "last" + std::to_string(i), no_value);
    if (a.batch_first) {
      c.emit(reshape_parameters{}, {last}, c.out(i));
      continue;
    }
    transposed(c, reshaped(c, last, {all[0], all[2], all[3]}), {1, 0, 2}, "", c.out(i));
  }
}

void recurrent(context& c) {
  const node& n = c.op();
  const recurrent_attributes a = recurrent_attributes_of(n, describe(c.source(), n));
  for (const std::size_t i : {of_x, of_h, of_c})
    if (c.has(i) && c.in_type(i) != element::f32) c.refuse("this operator computes float32 only");
  const shape_t& x = c.in_shape(of_x);
  recurrent_parameters r;
  r.kind = a.kind;
  r.hidden = static_cast<int>(c.in_shape(of_r)[2]);
  r.directions = a.directions;
  r.reverse = a.directions == 2 ? 2 : a.reverse ? 1 : 0;
  r.input_forget = a.input_forget;
  r.linear_before_reset = a.linear_before_reset;
  r.clip = static_cast<float>(a.clip);
  r.cell_clip = static_cast<float>(a.cell_clip);
  for (const recurrent_activation& f : a.activations)
    r.gates.push_back({f.fn, static_cast<float>(f.alpha), static_cast<float>(f.beta)});
  r.weights = weights(c, of_r, "R");
  const bool is_lstm = a.kind == recurrent_kind::lstm;
  if (is_lstm && c.has(of_p))
    for (double p : numbers(c, of_p, "P")) r.peephole.push_back(static_cast<float>(p));

  const std::int64_t time_steps = x[a.batch_first ? 1 : 0], batch = x[a.batch_first ? 0 : 1];
  const shape_t state = {batch, a.directions, r.hidden};
  std::vector<int> inputs = {recurrent_projection(c, a, r), recurrent_state(c, of_h, a, state)};
  if (is_lstm) inputs.push_back(recurrent_state(c, of_c, a, state));
  if (const int lengths = recurrent_lengths(c, time_steps); lengths != no_value) {
    r.lengths = true;
    inputs.push_back(lengths);
  }
  const int result = c.temporary("states", {batch, time_steps + (is_lstm ? 2 : 1), a.directions, r.hidden});
  c.emit(std::move(r), std::move(inputs), result);
  recurrent_outputs(c, a, result, time_steps);
}

}

void add_recurrent(rule_table& t) { add_rows(t, {"RNN", "GRU", "LSTM"}, {recurrent, element_types::any}); }

}
