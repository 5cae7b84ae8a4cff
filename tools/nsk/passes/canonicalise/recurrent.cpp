// SPDX-License-Identifier: MIT
/// RNN, GRU and LSTM: one product of all instants with the input weights, then the recurrence; outputs are views of its
/// result.
#include "graph/recurrent.hpp"
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {
namespace {

/// Inputs of the source node.
enum input : std::size_t { of_x, of_w, of_r, of_b, of_lengths, of_h, of_c, of_p };

}

/// x W + biases as [batch, instants, directions, gates * hidden]. The recurrent biases join those of the input, except
/// where linear_before_reset multiplies one by the reset gate.
int canonicaliser::recurrent_projection(const node& n, const recurrent_attributes& a, recurrent_parameters& r) {
  const shape_t& x = in_shape(n, of_x);
  const std::vector<double> w = weights(n, of_w, "W");
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
  const std::vector<double> b = present(n, of_b) ? numbers(n, of_b, "B") : std::vector<double>(2 * d.bias.size(), 0.0);
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::int64_t direction = o / rows, row = o % rows;
    const auto at = static_cast<std::size_t>(o);
    const double own = b[static_cast<std::size_t>(2 * direction * rows + row)],
                 recurrent = b[static_cast<std::size_t>((2 * direction + 1) * rows + row)];
    const bool gated = a.linear_before_reset && row >= 2 * r.hidden;
    d.bias[at] = gated ? own : own + recurrent;
    r.bias[at] = gated ? recurrent : 0;
  }
  const int product = temporary(n, "inputs", {x[0], x[1], outputs});
  emit(n, std::move(d), {in(n, of_x)}, product);
  const int split = reshaped(n, product, {x[0], x[1], a.directions, rows});
  return a.batch_first ? split : turned(n, split, {1, 0, 2, 3}, "turned");
}

int canonicaliser::turned(const node& n, int v, const std::vector<int>& permutation, const std::string& suffix,
                          int result) {
  shape_t shape;
  for (int a : permutation) shape.push_back(m_program.shape(v)[static_cast<std::size_t>(a)]);
  if (result == no_value) result = temporary(n, suffix, shape);
  emit(n, transpose_parameters{permutation}, {v}, result);
  return result;
}

/// An initial state as [batch, directions, hidden]; zeros where the node has none.
int canonicaliser::recurrent_state(const node& n, std::size_t i, const recurrent_attributes& a, const shape_t& shape) {
  if (present(n, i)) return a.batch_first ? in(n, i) : turned(n, in(n, i), {1, 0, 2}, "initial" + std::to_string(i));
  const int zeros = constant(n, "zeros" + std::to_string(i), {1, 1, shape[2]},
                             std::vector<double>(static_cast<std::size_t>(shape[2]), 0.0));
  const int result = temporary(n, "initial" + std::to_string(i), shape);
  emit(n, expand_parameters{}, {zeros}, result);
  return result;
}

/// Lengths that are data, or shorter than the input; no_value where every row has all instants.
int canonicaliser::recurrent_lengths(const node& n, std::int64_t instants) {
  if (!present(n, of_lengths)) return no_value;
  const value& v = m_graph.values[static_cast<std::size_t>(n.inputs[of_lengths])];
  if (v.type != element::i32) refuse_node(n, "sequence_lens must be int32");
  if (!v.constant) return in(n, of_lengths);
  bool all = true;
  for (std::int64_t length : integers(n, of_lengths, "sequence_lens")) {
    if (length < 0 || length > instants)
      refuse_node(n, "sequence_lens holds " + std::to_string(length) + ", but the input has " +
                         std::to_string(instants) + " instants");
    all = all && length == instants;
  }
  return all ? no_value : in(n, of_lengths);
}

void canonicaliser::recurrent(const node& n) {
  const recurrent_attributes a = recurrent_attributes_of(n, describe(m_graph, n));
  for (const std::size_t i : {of_x, of_h, of_c})
    if (present(n, i) && in_type(n, i) != element::f32) refuse_node(n, "this operator computes float32 only");
  const shape_t& x = in_shape(n, of_x);
  recurrent_parameters r;
  r.kind = a.kind;
  r.hidden = static_cast<int>(in_shape(n, of_r)[2]);
  r.directions = a.directions;
  r.reverse = a.directions == 2 ? 2 : a.reverse ? 1 : 0;
  r.input_forget = a.input_forget;
  r.linear_before_reset = a.linear_before_reset;
  r.clip = static_cast<float>(a.clip);
  r.cell_clip = static_cast<float>(a.cell_clip);
  for (const recurrent_activation& f : a.activations)
    r.gates.push_back({f.fn, static_cast<float>(f.alpha), static_cast<float>(f.beta)});
  r.weights = weights(n, of_r, "R");
  const bool is_lstm = a.kind == recurrent_kind::lstm;
  if (is_lstm && present(n, of_p))
    for (double p : numbers(n, of_p, "P")) r.peephole.push_back(static_cast<float>(p));

  const std::int64_t instants = x[a.batch_first ? 1 : 0], batch = x[a.batch_first ? 0 : 1];
  const shape_t state = {batch, a.directions, r.hidden};
  std::vector<int> inputs = {recurrent_projection(n, a, r), recurrent_state(n, of_h, a, state)};
  if (is_lstm) inputs.push_back(recurrent_state(n, of_c, a, state));
  if (const int lengths = recurrent_lengths(n, instants); lengths != no_value) {
    r.lengths = true;
    inputs.push_back(lengths);
  }
  const int result = temporary(n, "states", {batch, instants + (is_lstm ? 2 : 1), a.directions, r.hidden});
  emit(n, std::move(r), std::move(inputs), result);
  recurrent_outputs(n, a, result, instants);
}

/// Y, Y_h and Y_c as views of [batch, instants + final rows, directions, hidden].
void canonicaliser::recurrent_outputs(const node& n, const recurrent_attributes& a, int states, std::int64_t instants) {
  const shape_t all = m_program.shape(states);
  const auto rows = [&](std::int64_t start, std::int64_t count, const std::string& name, int into) {
    const int part = into != no_value ? into : temporary(n, name, {all[0], count, all[2], all[3]});
    emit(n, slice_parameters{{0, start, 0, 0}, {1, 1, 1, 1}}, {states}, part);
    return part;
  };
  const auto wanted = [&](std::size_t i) { return i < n.outputs.size() && n.outputs[i] != no_value; };
  if (wanted(0)) {
    const int y = rows(0, instants, "sequence", a.batch_first ? of(output_of(n)) : no_value);
    if (!a.batch_first) turned(n, y, {1, 2, 0, 3}, "", of(output_of(n)));
  }
  for (std::size_t i = 1; i < 3; ++i) {
    if (!wanted(i)) continue;
    const int last = rows(instants + static_cast<std::int64_t>(i) - 1, 1, "last" + std::to_string(i), no_value);
    if (a.batch_first) {
      emit(n, reshape_parameters{}, {last}, of(n.outputs[i]));
      continue;
    }
    turned(n, reshaped(n, last, {all[0], all[2], all[3]}), {1, 0, 2}, "", of(n.outputs[i]));
  }
}

}
