// SPDX-License-Identifier: MIT
/// Rules for LSTM layers. What ONNX's LSTM says becomes one, with a limit of the cell beside it; projections,
/// normalised gates, clipped activations and quantised states, which saturate, are spelled out one
/// time step after the other. Gates are in the file's order: input, forget, cell, output.
#include <algorithm>

#include "graph/recurrent.hpp"
#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/recurrent_stored.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/sequence.hpp"

namespace nsk::tool::tflite {
namespace {

enum gate : std::size_t { input_gate, forget_gate, cell_gate, output_gate };
constexpr std::size_t absent = 1000;   // no such input
constexpr float min_variance = 1e-8f;  // of normalised gates

/// Where a direction's operands are among the operator's inputs; the first of each group.
struct lstm_places {
  std::size_t from_input, from_h, from_cell, bias, projection, h, c, norm = absent, auxiliary = absent;
};

/// One direction. Groups hold a value per gate; no_value where the gate, or the whole group, is absent.
struct lstm_layer {
  values from_input, from_h, from_cell, bias, norm;
  value_id projection = no_value, projection_bias = no_value;
  int h = 0, c = 0;
  std::int64_t cells = 0, outputs = 0;
  bool coupled = false;   ///< the input gate is 1 - forget gate
  bool peephole = false;  ///< gates see the cell
  bool normalised = false;
  tfl::Activation a = tfl::Activation::TANH;
  double cell_clip = 0, projection_clip = 0;
};

lstm_layer lstm_at(call& c, const lstm_places& p, const sequence& s, std::int64_t auxiliary, bool quantized_too) {
  lstm_layer l;
  const auto given = [&](std::size_t group, std::size_t g) { return group != absent && c.has(group + g); };
  c.require(c.rank(c.input(p.from_h + output_gate)) == 2, "its recurrent weights must have two dimensions");
  l.cells = c.shape(c.input(p.from_h + output_gate))[0];
  l.outputs = c.shape(c.input(p.from_h + output_gate))[1];
  l.coupled = !given(p.from_input, input_gate);
  l.peephole = given(p.from_cell, 1);
  l.normalised = given(p.norm, forget_gate);
  const auto group = [&](std::size_t first, const shape_t& wanted) {
    values result(4, no_value);
    for (std::size_t g = l.coupled ? 1 : 0; g < 4; ++g) result[g] = weights_of(c, first + g, wanted);
    c.require(!l.coupled || !c.has(first + input_gate), "its input gate has some operands, but not all");
    return result;
  };
  l.from_input = group(p.from_input, {l.cells, s.inputs - auxiliary});
  if (auxiliary > 0) {
    const values more = group(p.auxiliary, {l.cells, auxiliary});
    for (std::size_t g = l.coupled ? 1 : 0; g < 4; ++g) l.from_input[g] = joined(c, {l.from_input[g], more[g]}, 1);
  }
  l.from_h = group(p.from_h, {l.cells, l.outputs});
  l.bias = group(p.bias, {l.cells});
  if (l.normalised) l.norm = group(p.norm, {l.cells});
  c.require(l.normalised || !(given(p.norm, input_gate) || given(p.norm, cell_gate) || given(p.norm, output_gate)),
            "only some of its gates are normalised");
  c.require(given(p.from_cell, 2) == l.peephole && given(p.from_cell, 0) == (l.peephole && !l.coupled),
            "only some of its gates see the cell");
  l.from_cell.assign(4, no_value);
  if (l.peephole) {
    if (!l.coupled) l.from_cell[input_gate] = weights_of(c, p.from_cell, {l.cells});
    l.from_cell[forget_gate] = weights_of(c, p.from_cell + 1, {l.cells});
    l.from_cell[output_gate] = weights_of(c, p.from_cell + 2, {l.cells});
  }
  if (c.has(p.projection)) l.projection = weights_of(c, p.projection, {l.outputs, l.cells});
  if (c.has(p.projection + 1)) l.projection_bias = weights_of(c, p.projection + 1, {l.outputs});
  c.require(l.projection != no_value || (l.outputs == l.cells && l.projection_bias == no_value),
            "it has no projection, but another number of outputs than of cells, or a projection's bias");
  l.h = state_at(c, p.h, {s.batch, l.outputs}, quantized_too);
  l.c = state_at(c, p.c, {s.batch, l.cells}, quantized_too);
  c.require(l.h != l.c, "its two states are one tensor");
  return l;
}

template <class Options>
void set_lstm_options(const call& c, lstm_layer& l, const Options& o) {
  l.a = o.fused_activation_function();
  l.cell_clip = static_cast<double>(o.cell_clip());
  l.projection_clip = static_cast<double>(o.proj_clip());
  c.require(l.cell_clip >= 0 && l.projection_clip >= 0, "its limits of the cell or the projection are negative");
  if (is_quantized(c.tensor(l.c))) {
    const double max_held = quantized_range(c.tensor(l.c)).second;
    l.cell_clip = l.cell_clip > 0 ? std::min(l.cell_clip, max_held) : max_held;
  }
  c.require(l.a != tfl::Activation::NONE,
            "its activation is none, for which runtimes give numbers that are not defined");
}

/// One operator for all time steps. A coupled input gate, 1 - forget gate, is the sigmoid of the negated argument; the
/// operator's own coupling, forget gate = 1 - input gate, gives the forget gate back.
value_id fused_lstm(call& c, const sequence& s, const lstm_layer& l) {
  const auto of_input = [&](const values& group) {
    return l.coupled ? c.emit("Neg", {group[forget_gate]}) : group[input_gate];
  };
  const auto in_order = [&](const values& group) {  // of the operator: input, output, forget, cell
    return joined(c, {of_input(group), group[output_gate], group[forget_gate], group[cell_gate]}, 0);
  };
  const value_id no_bias = c.constant(array(element::f32, {4 * l.cells}));
  values inputs = {s.x,
                   reshaped(c, in_order(l.from_input), {1, 4 * l.cells, s.inputs}),
                   reshaped(c, in_order(l.from_h), {1, 4 * l.cells, l.cells}),
                   reshaped(c, joined(c, {in_order(l.bias), no_bias}, 0), {1, 8 * l.cells}),
                   no_value,
                   reshaped(c, c.plain(l.h), s.one(l.cells)),
                   reshaped(c, c.plain(l.c), s.one(l.cells))};
  if (l.peephole)
    inputs.push_back(reshaped(c,
                              joined(c, {of_input(l.from_cell), l.from_cell[output_gate], l.from_cell[forget_gate]}, 0),
                              {1, 3 * l.cells}));
  const std::string function = l.a == tfl::Activation::RELU ? "Relu" : "Tanh";
  attributes a = {{"hidden_size", l.cells},
                  {"direction", std::string(s.backwards ? "reverse" : "forward")},
                  {"layout", std::int64_t{!s.time_major}},
                  {"input_forget", std::int64_t{l.coupled}},
                  {"activations", std::vector<std::string>{"Sigmoid", function, function}}};
  if (l.cell_clip > 0) a[cell_clip_attribute] = static_cast<float>(l.cell_clip);
  const values y = c.emit_many("LSTM", std::move(inputs), std::move(a), 3);
  write_variable(c, l.h, reshaped(c, y[1], {s.batch, l.cells}));
  write_variable(c, l.c, reshaped(c, y[2], {s.batch, l.cells}));
  return reshaped(c, y[0], s.whole(l.cells));
}

value_id unrolled_lstm(call& c, const sequence& s, const lstm_layer& l) {
  require_unrollable(c, s, "a projection, normalised gates, quantised states or this activation");
  const std::size_t first = l.coupled ? 1 : 0;
  const auto all = [&](const values& group) {
    return joined(c, {group.begin() + static_cast<std::ptrdiff_t>(first), group.end()}, 0);
  };
  value_id own = c.emit("MatMul", {s.x, transposed(c, all(l.from_input), {1, 0})});
  if (!l.normalised) own = c.emit("Add", {own, all(l.bias)});
  const value_id from_h = transposed(c, all(l.from_h), {1, 0});
  const value_id projection = l.projection == no_value ? no_value : transposed(c, l.projection, {1, 0});
  const value_id sizes = constant_integers(c, std::vector<std::int64_t>(4 - first, l.cells)),
                 one = constant_number(c, 1);
  const auto clipped = [&](value_id v, double limit) {
    return limit > 0 ? c.emit("Clip", {v, constant_number(c, -limit), constant_number(c, limit)}) : v;
  };
  value_id h = c.plain(l.h), cell = c.plain(l.c);
  values results;
  for (std::int64_t i = 0; i < s.steps; ++i) {
    const value_id sum = c.emit("Add", {at_step(c, s, own, s.nth(i)), c.emit("MatMul", {h, from_h})});
    const values parts = c.emit_many("Split", {sum, sizes}, {{"axis", std::int64_t{1}}}, 4 - first);
    const auto argument = [&](std::size_t g) {
      value_id v = parts[g - first];
      if (l.from_cell[g] != no_value) v = c.emit("Add", {v, c.emit("Mul", {cell, l.from_cell[g]})});
      if (!l.normalised) return v;
      return c.emit("LayerNormalization", {v, l.norm[g], l.bias[g]},
                    {{"axis", std::int64_t{-1}}, {"epsilon", min_variance}});
    };
    const value_id forget = c.emit("Sigmoid", {argument(forget_gate)});
    const value_id in = l.coupled ? c.emit("Sub", {one, forget}) : c.emit("Sigmoid", {argument(input_gate)});
    const value_id fresh = layer_activated(c, argument(cell_gate), l.a);
    cell = clipped(c.emit("Add", {c.emit("Mul", {forget, cell}), c.emit("Mul", {in, fresh})}), l.cell_clip);
    h = c.emit("Mul", {c.emit("Sigmoid", {argument(output_gate)}), layer_activated(c, cell, l.a)});
    if (projection != no_value) {
      h = c.emit("MatMul", {h, projection});
      if (l.projection_bias != no_value) h = c.emit("Add", {h, l.projection_bias});
      h = clipped(h, l.projection_clip);
    }
    results.push_back(h = saturated(c, h, l.h));
  }
  write_variable(c, l.h, h);
  write_variable(c, l.c, cell);
  return over_time(c, s, results);
}

value_id run_lstm(call& c, const sequence& s, const lstm_layer& l) {
  const bool plain_function = l.a == tfl::Activation::TANH || l.a == tfl::Activation::RELU;
  if (plain_function && l.projection == no_value && !l.normalised && !is_quantized(c.tensor(l.h)))
    return fused_lstm(c, s, l);
  return unrolled_lstm(c, s, l);
}

void sequence_lstm(call& c) {
  c.require_operands(20, 24);
  if (c.is_stored(c.input(0))) return lstm_stored(c);
  const auto& o = c.options<tfl::UnidirectionalSequenceLSTMOptions>();
  c.require(!o.diagonal_recurrent_tensors(), "diagonal recurrent weights are not supported. Export them as matrices");
  const sequence s = sequence_of(c, c.input(0), o.time_major());
  lstm_layer l =
      lstm_at(c, {1, 5, 9, 12, 16, 18, 19, c.op().inputs.size() == 24 ? std::size_t{20} : absent}, s, 0, true);
  set_lstm_options(c, l, o);
  finish(c, 0, run_lstm(c, s, l));
}

/// The small form: input, h, weights [4 cells, inputs + cells], bias, c; h and c as outputs, and what is between
/// them. Gates are input, cell, forget, output.
void lstm_cell(call& c) {
  c.require_operands(5, 5, 4);
  const auto& o = c.options<tfl::LSTMOptions>();
  c.require(o.fused_activation_function() == tfl::Activation::TANH && o.cell_clip() == 0 && o.proj_clip() == 0,
            "its basic form has another activation than Tanh, or limits");
  const sequence s = one_step_of(c, c.input(0));
  c.require(c.rank(c.input(3)) == 1 && c.shape(c.input(3))[0] % 4 == 0, "its bias must have four numbers per cell");
  const std::int64_t cells = c.shape(c.input(3))[0] / 4;
  const value_id w = weights_of(c, 2, {4 * cells, s.inputs + cells}), bias = weights_of(c, 3, {4 * cells});
  const int h = state_at(c, 1, {s.batch, cells}), state = state_at(c, 4, {s.batch, cells});
  c.require(h != state, "its two states are one tensor");
  const value_id both = joined(c, {reshaped(c, s.x, {s.batch, s.inputs}), c.plain(h)}, 1);
  const value_id sums = c.emit("Gemm", {both, w, bias}, {{"transB", std::int64_t{1}}});
  const values gates =
      c.emit_many("Split", {sums, constant_integers(c, {cells, cells, cells, cells})}, {{"axis", std::int64_t{1}}}, 4);
  const value_id kept = c.emit("Mul", {c.emit("Sigmoid", {gates[2]}), c.plain(state)});
  const value_id fresh = c.emit("Mul", {c.emit("Sigmoid", {gates[0]}), c.emit("Tanh", {gates[1]})});
  const value_id cell = c.emit("Add", {fresh, kept});
  const value_id y = c.emit("Mul", {c.emit("Sigmoid", {gates[3]}), c.emit("Tanh", {cell})});
  write_variable(c, h, y);
  write_variable(c, state, cell);
  c.bind(0, y);
  c.bind(1, cell);
  c.bind(2, both);
  c.bind(3, sums);
}

/// One time step: the same operands without time, or a small form of its own.
void lstm(call& c) {
  const auto& o = c.options<tfl::LSTMOptions>();
  if (o.kernel_type() == tfl::LstmKernel::BASIC) return lstm_cell(c);
  c.require_operands(20, 24);
  const sequence s = one_step_of(c, c.input(0));
  lstm_layer l =
      lstm_at(c, {1, 5, 9, 12, 16, 18, 19, c.op().inputs.size() == 24 ? std::size_t{20} : absent}, s, 0, true);
  set_lstm_options(c, l, o);
  finish(c, 0, reshaped(c, run_lstm(c, s, l), {s.batch, l.outputs}));
}

void bidirectional_sequence_lstm(call& c) {
  const auto& o = c.options<tfl::BidirectionalSequenceLSTMOptions>();
  c.require_operands(48, 48, o.merge_outputs() ? 1 : 2);
  constexpr std::size_t auxiliary = 39;
  constexpr lstm_places places[] = {{1, 5, 9, 12, 16, 35, 36, absent, 40}, {18, 22, 26, 29, 33, 37, 38, absent, 44}};
  const bool crossed = c.has(places[0].auxiliary + output_gate);
  c.require(crossed == c.has(places[1].auxiliary + output_gate), "only one of its directions has auxiliary weights");
  c.require(!crossed || c.has(auxiliary), "it has auxiliary weights, but no auxiliary input");
  value_id y[2];
  for (std::size_t d = 0; d < 2; ++d) {
    sequence s = sequence_of(c, c.input(d == 1 && !crossed && c.has(auxiliary) ? auxiliary : 0), o.time_major());
    s.backwards = d == 1;
    const std::int64_t inputs = s.inputs;
    if (crossed) s = with_auxiliary(c, s, c.input(auxiliary));
    lstm_layer l = lstm_at(c, places[d], s, s.inputs - inputs, false);
    set_lstm_options(c, l, o);
    y[d] = run_lstm(c, s, l);
  }
  bind_directions(c, o.merge_outputs(), y[0], y[1]);
}

}

void add_lstm(table& t) {
  t["LSTM"] = {lstm};
  t["UNIDIRECTIONAL_SEQUENCE_LSTM"] = {sequence_lstm};
  t["BIDIRECTIONAL_SEQUENCE_LSTM"] = {bidirectional_sequence_lstm};
}

}
