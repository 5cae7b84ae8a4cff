// SPDX-License-Identifier: MIT
/// Rules for LSTM layers. What ONNX's LSTM says becomes one, with a limit of the cell beside it; projections,
/// normalised gates, clipped activations and quantised states, which saturate, are spelled out instant by instant.
/// Gates are in the file's order: input, forget, cell, output.
#include <algorithm>

#include "graph/recurrent.hpp"
#include "import/tflite/constants.hpp"
#include "import/tflite/recurrent.hpp"

namespace nsk::tool {
namespace {

enum gate : std::size_t { input_gate, forget_gate, cell_gate, output_gate };
constexpr std::size_t absent = 1000;        // no such input
constexpr float smallest_variance = 1e-8f;  // of normalised gates

}

/// Where a direction's operands lie among the operator's inputs; the first of each group.
struct tflite_importer::lstm_places {
  std::size_t from_input, from_h, from_cell, bias, projection, h, c, norm = absent, auxiliary = absent;
};

/// One direction. Groups hold a value per gate; no_value where the gate, or the whole group, is absent.
struct tflite_importer::lstm_layer {
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

tflite_importer::lstm_layer tflite_importer::lstm_at(const lstm_places& p, const sequence& s, std::int64_t auxiliary,
                                                     bool quantized_too) {
  lstm_layer l;
  const auto given = [&](std::size_t group, std::size_t g) { return group != absent && has(group + g); };
  require(rank(input(p.from_h + output_gate)) == 2, "its recurrent weights must have two dimensions");
  l.cells = shape(input(p.from_h + output_gate))[0];
  l.outputs = shape(input(p.from_h + output_gate))[1];
  l.coupled = !given(p.from_input, input_gate);
  l.peephole = given(p.from_cell, 1);
  l.normalised = given(p.norm, forget_gate);
  const auto group = [&](std::size_t first, const shape_t& wanted) {
    values result(4, no_value);
    for (std::size_t g = l.coupled ? 1 : 0; g < 4; ++g) result[g] = weights_of(first + g, wanted);
    require(!l.coupled || !has(first + input_gate), "its input gate has some operands, but not all");
    return result;
  };
  l.from_input = group(p.from_input, {l.cells, s.inputs - auxiliary});
  if (auxiliary > 0) {
    const values more = group(p.auxiliary, {l.cells, auxiliary});
    for (std::size_t g = l.coupled ? 1 : 0; g < 4; ++g) l.from_input[g] = joined({l.from_input[g], more[g]}, 1);
  }
  l.from_h = group(p.from_h, {l.cells, l.outputs});
  l.bias = group(p.bias, {l.cells});
  if (l.normalised) l.norm = group(p.norm, {l.cells});
  require(l.normalised || !(given(p.norm, input_gate) || given(p.norm, cell_gate) || given(p.norm, output_gate)),
          "only some of its gates are normalised");
  require(given(p.from_cell, 2) == l.peephole && given(p.from_cell, 0) == (l.peephole && !l.coupled),
          "only some of its gates see the cell");
  l.from_cell.assign(4, no_value);
  if (l.peephole) {
    if (!l.coupled) l.from_cell[input_gate] = weights_of(p.from_cell, {l.cells});
    l.from_cell[forget_gate] = weights_of(p.from_cell + 1, {l.cells});
    l.from_cell[output_gate] = weights_of(p.from_cell + 2, {l.cells});
  }
  if (has(p.projection)) l.projection = weights_of(p.projection, {l.outputs, l.cells});
  if (has(p.projection + 1)) l.projection_bias = weights_of(p.projection + 1, {l.outputs});
  require(l.projection != no_value || (l.outputs == l.cells && l.projection_bias == no_value),
          "it has no projection, but another number of outputs than of cells, or a projection's bias");
  l.h = state_at(p.h, {s.batch, l.outputs}, quantized_too);
  l.c = state_at(p.c, {s.batch, l.cells}, quantized_too);
  require(l.h != l.c, "its two states are one tensor");
  return l;
}

template <class Options>
void tflite_importer::set_lstm_options(lstm_layer& l, const Options& o) const {
  l.a = o.fused_activation_function();
  l.cell_clip = static_cast<double>(o.cell_clip());
  l.projection_clip = static_cast<double>(o.proj_clip());
  require(l.cell_clip >= 0 && l.projection_clip >= 0, "its limits of the cell or the projection are negative");
  if (is_quantized(tensor(l.c))) {
    const double most = quantized_range(tensor(l.c)).second;
    l.cell_clip = l.cell_clip > 0 ? std::min(l.cell_clip, most) : most;
  }
  require(l.a != tfl::Activation::NONE, "its activation is none, for which runtimes give numbers that are not defined");
}

value_id tflite_importer::run_lstm(const sequence& s, const lstm_layer& l) {
  const bool plain_function = l.a == tfl::Activation::TANH || l.a == tfl::Activation::RELU;
  if (plain_function && l.projection == no_value && !l.normalised && !is_quantized(tensor(l.h)))
    return fused_lstm(s, l);
  return unrolled_lstm(s, l);
}

/// One operator for all instants. A coupled input gate, 1 - forget gate, is the sigmoid of the negated argument; the
/// operator's own coupling, forget gate = 1 - input gate, gives the forget gate back.
value_id tflite_importer::fused_lstm(const sequence& s, const lstm_layer& l) {
  const auto of_input = [&](const values& group) {
    return l.coupled ? emit("Neg", {group[forget_gate]}) : group[input_gate];
  };
  const auto in_order = [&](const values& group) {  // of the operator: input, output, forget, cell
    return joined({of_input(group), group[output_gate], group[forget_gate], group[cell_gate]}, 0);
  };
  const value_id no_bias = constant(array(element::f32, {4 * l.cells}));
  values inputs = {s.x,
                   reshaped(in_order(l.from_input), {1, 4 * l.cells, s.inputs}),
                   reshaped(in_order(l.from_h), {1, 4 * l.cells, l.cells}),
                   reshaped(joined({in_order(l.bias), no_bias}, 0), {1, 8 * l.cells}),
                   no_value,
                   reshaped(plain(l.h), s.one(l.cells)),
                   reshaped(plain(l.c), s.one(l.cells))};
  if (l.peephole)
    inputs.push_back(reshaped(joined({of_input(l.from_cell), l.from_cell[output_gate], l.from_cell[forget_gate]}, 0),
                              {1, 3 * l.cells}));
  const std::string function = l.a == tfl::Activation::RELU ? "Relu" : "Tanh";
  attributes a = {{"hidden_size", l.cells},
                  {"direction", std::string(s.backwards ? "reverse" : "forward")},
                  {"layout", std::int64_t{!s.time_major}},
                  {"input_forget", std::int64_t{l.coupled}},
                  {"activations", std::vector<std::string>{"Sigmoid", function, function}}};
  if (l.cell_clip > 0) a[cell_clip_attribute] = static_cast<float>(l.cell_clip);
  const values y = emit_many("LSTM", std::move(inputs), std::move(a), 3);
  write_variable(l.h, reshaped(y[1], {s.batch, l.cells}));
  write_variable(l.c, reshaped(y[2], {s.batch, l.cells}));
  return reshaped(y[0], s.whole(l.cells));
}

value_id tflite_importer::unrolled_lstm(const sequence& s, const lstm_layer& l) {
  require_unrollable(s, "a projection, normalised gates, quantised states or this activation");
  const std::size_t first = l.coupled ? 1 : 0;
  const auto all = [&](const values& group) {
    return joined({group.begin() + static_cast<std::ptrdiff_t>(first), group.end()}, 0);
  };
  value_id own = emit("MatMul", {s.x, transposed(all(l.from_input), {1, 0})});
  if (!l.normalised) own = emit("Add", {own, all(l.bias)});
  const value_id from_h = transposed(all(l.from_h), {1, 0});
  const value_id projection = l.projection == no_value ? no_value : transposed(l.projection, {1, 0});
  const value_id sizes = constant_integers(std::vector<std::int64_t>(4 - first, l.cells)), one = constant_number(1);
  const auto clipped = [&](value_id v, double most) {
    return most > 0 ? emit("Clip", {v, constant_number(-most), constant_number(most)}) : v;
  };
  value_id h = plain(l.h), c = plain(l.c);
  values steps;
  for (std::int64_t i = 0; i < s.instants; ++i) {
    const value_id sum = emit("Add", {at_instant(s, own, s.nth(i)), emit("MatMul", {h, from_h})});
    const values parts = emit_many("Split", {sum, sizes}, {{"axis", std::int64_t{1}}}, 4 - first);
    const auto argument = [&](std::size_t g) {
      value_id v = parts[g - first];
      if (l.from_cell[g] != no_value) v = emit("Add", {v, emit("Mul", {c, l.from_cell[g]})});
      if (!l.normalised) return v;
      return emit("LayerNormalization", {v, l.norm[g], l.bias[g]},
                  {{"axis", std::int64_t{-1}}, {"epsilon", smallest_variance}});
    };
    const value_id forget = emit("Sigmoid", {argument(forget_gate)});
    const value_id in = l.coupled ? emit("Sub", {one, forget}) : emit("Sigmoid", {argument(input_gate)});
    const value_id fresh = layer_activated(argument(cell_gate), l.a);
    c = clipped(emit("Add", {emit("Mul", {forget, c}), emit("Mul", {in, fresh})}), l.cell_clip);
    h = emit("Mul", {emit("Sigmoid", {argument(output_gate)}), layer_activated(c, l.a)});
    if (projection != no_value) {
      h = emit("MatMul", {h, projection});
      if (l.projection_bias != no_value) h = emit("Add", {h, l.projection_bias});
      h = clipped(h, l.projection_clip);
    }
    steps.push_back(h = saturated(h, l.h));
  }
  write_variable(l.h, h);
  write_variable(l.c, c);
  return over_time(s, steps);
}

void tflite_importer::sequence_lstm() {
  require_operands(20, 24);
  const auto& o = options<tfl::UnidirectionalSequenceLSTMOptions>();
  require(!o.diagonal_recurrent_tensors(), "diagonal recurrent weights are not supported. Export them as matrices");
  const sequence s = sequence_of(input(0), o.time_major());
  lstm_layer l = lstm_at({1, 5, 9, 12, 16, 18, 19, m_op->inputs.size() == 24 ? std::size_t{20} : absent}, s, 0, true);
  set_lstm_options(l, o);
  finish(output(), run_lstm(s, l), false);
}

/// One instant: the same operands without time, or a small form of its own.
void tflite_importer::lstm() {
  const auto& o = options<tfl::LSTMOptions>();
  if (o.kernel_type() == tfl::LstmKernel::BASIC) return lstm_cell();
  require_operands(20, 24);
  const sequence s = instant_of(input(0));
  lstm_layer l = lstm_at({1, 5, 9, 12, 16, 18, 19, m_op->inputs.size() == 24 ? std::size_t{20} : absent}, s, 0, true);
  set_lstm_options(l, o);
  finish(output(), reshaped(run_lstm(s, l), {s.batch, l.outputs}), false);
}

/// The small form: input, h, weights [4 cells, inputs + cells], bias, c; h and c as outputs, and what lies between
/// them. Gates are input, cell, forget, output.
void tflite_importer::lstm_cell() {
  require_operands(5, 5, 4);
  const auto& o = options<tfl::LSTMOptions>();
  require(o.fused_activation_function() == tfl::Activation::TANH && o.cell_clip() == 0 && o.proj_clip() == 0,
          "its basic form has another activation than Tanh, or limits");
  const sequence s = instant_of(input(0));
  require(rank(input(3)) == 1 && shape(input(3))[0] % 4 == 0, "its bias must have four numbers per cell");
  const std::int64_t cells = shape(input(3))[0] / 4;
  const value_id w = weights_of(2, {4 * cells, s.inputs + cells}), bias = weights_of(3, {4 * cells});
  const int h = state_at(1, {s.batch, cells}), c = state_at(4, {s.batch, cells});
  require(h != c, "its two states are one tensor");
  const value_id both = joined({reshaped(s.x, {s.batch, s.inputs}), plain(h)}, 1);
  const value_id sums = emit("Gemm", {both, w, bias}, {{"transB", std::int64_t{1}}});
  const values gates =
      emit_many("Split", {sums, constant_integers({cells, cells, cells, cells})}, {{"axis", std::int64_t{1}}}, 4);
  const value_id kept = emit("Mul", {emit("Sigmoid", {gates[2]}), plain(c)});
  const value_id fresh = emit("Mul", {emit("Sigmoid", {gates[0]}), emit("Tanh", {gates[1]})});
  const value_id cell = emit("Add", {fresh, kept});
  const value_id y = emit("Mul", {emit("Sigmoid", {gates[3]}), emit("Tanh", {cell})});
  write_variable(h, y);
  write_variable(c, cell);
  bind(output(0), y, false);
  bind(output(1), cell, false);
  bind(output(2), both, false);
  bind(output(3), sums, false);
}

void tflite_importer::bidirectional_sequence_lstm() {
  const auto& o = options<tfl::BidirectionalSequenceLSTMOptions>();
  require_operands(48, 48, o.merge_outputs() ? 1 : 2);
  constexpr std::size_t auxiliary = 39;
  constexpr lstm_places places[] = {{1, 5, 9, 12, 16, 35, 36, absent, 40}, {18, 22, 26, 29, 33, 37, 38, absent, 44}};
  const bool crossed = has(places[0].auxiliary + output_gate);
  require(crossed == has(places[1].auxiliary + output_gate), "only one of its directions has auxiliary weights");
  require(!crossed || has(auxiliary), "it has auxiliary weights, but no auxiliary input");
  value_id y[2];
  for (std::size_t d = 0; d < 2; ++d) {
    sequence s = sequence_of(input(d == 1 && !crossed && has(auxiliary) ? auxiliary : 0), o.time_major());
    s.backwards = d == 1;
    const std::int64_t inputs = s.inputs;
    if (crossed) s = with_auxiliary(s, input(auxiliary));
    lstm_layer l = lstm_at(places[d], s, s.inputs - inputs, false);
    set_lstm_options(l, o);
    y[d] = run_lstm(s, l);
  }
  bind_directions(o.merge_outputs(), y[0], y[1]);
}

}
