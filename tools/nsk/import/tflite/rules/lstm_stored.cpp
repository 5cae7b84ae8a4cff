// SPDX-License-Identifier: MIT
/// LSTM on stored integers: int8 inputs, weights and outputs, gates and a cell of int16, in LiteRT's arithmetic. Gates
/// are computed beside each other, one time step after the other; functions of 16 bits are tables.
#include <algorithm>
#include <cmath>

#include "graph/fixed_functions.hpp"
#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/fixed_rescale.hpp"
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/recurrent_stored.hpp"
#include "import/tflite/rules/sequence.hpp"

namespace nsk::tool::tflite {
namespace {

using type = tfl::TensorType;
enum gate : std::size_t { input_gate, forget_gate, cell_gate, output_gate };
constexpr std::size_t from_input = 1, from_h = 5, from_cell = 9, biases = 12, projection = 16, state_h = 18,
                      state_c = 19, norms = 20,
                      hidden_place = 4;  // of operands, and of what the layer makes on its way
constexpr int gate_bits = 3, min_cell_exponent = -15, max_cell_exponent = -9;

struct integer_lstm {
  std::vector<std::size_t> gates;  ///< those that are computed, in order
  std::int64_t batch = 0, inputs = 0, cells = 0, outputs = 0;
  value_id x_weights = no_value, h_weights = no_value, bias = no_value, projection_weights = no_value,
           projection_bias = no_value;
  std::vector<double> x_factors, h_factors;  ///< of every column of the gates
  double x_bound = 0, h_bound = 0, projection_bound = 0, hidden_factor = 0, projection_factor = 0;
  std::int64_t x_zero = 0, h_zero = 0, hidden_zero = 0;
  int cell_exponent = 0;
  std::int64_t cell_limit = 0, projection_limit = 0;
  value_id logistic = no_value, tanh = no_value, tanh_of_cell = no_value;
  bool peephole = false;

  bool coupled() const { return gates.size() == 3; }
};

std::int64_t zero_of(const call& c, int t) { return scale_of(c.tensor(t)).zero[0]; }

/// The weights of all gates, one behind the other, and their factors to steps of 2^-12.
value_id weights_of_gates(call& c, integer_lstm& l, std::size_t first, std::int64_t depth, float scale,
                          std::vector<double>& factors) {
  values parts;
  for (const std::size_t g : l.gates) {
    const int t = c.input(first + g);
    c.require(c.shape(t) == shape_t{l.cells, depth} && c.is_constant(t),
              "its weights do not fit each other. The file is damaged");
    factors.insert(factors.end(), static_cast<std::size_t>(l.cells),
                   static_cast<double>(own_scale(c, t, type::INT8, false) * scale) / std::ldexp(1.0, -12));
    parts.push_back(c.all().known.integers(t, false));
  }
  return joined(c, parts, 0);
}

/// A constant of int32 for each of `count` positions, as int64; zeros where it is absent.
array long_bias(call& c, std::size_t i, std::int64_t count) {
  array result(element::i64, {count});
  if (!c.has(i)) return result;
  const tflite_tensor& t = c.tensor(c.input(i));
  c.require(t.bytes != nullptr && t.data->type() == type::INT32 && c.shape(c.input(i)) == shape_t{count},
            "a bias is no constant of int32 for each number. The file is damaged");
  const array stored = decode_tflite(t, false);
  for (std::int64_t k = 0; k < count; ++k) result.set_integer(k, stored.integer(k));
  return result;
}

double largest(const array& a) {
  double result = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) result = std::max(result, std::abs(a.number(i)));
  return result;
}

/// All values of tanh, or of the logistic function, of numbers with so many bits in front of the point.
value_id table_of(call& c, bool is_tanh, int integer_bits) {
  const auto [found, is_new] = c.all().tables.try_emplace({is_tanh, integer_bits}, no_value);
  if (!is_new) return found->second;
  array table(element::i16, {65536});
  for (std::int64_t i = 0; i < 65536; ++i)
    table.set_integer(i, is_tanh ? fixed16::tanh(i - 32768, integer_bits) : fixed16::logistic(i - 32768, integer_bits));
  return found->second = c.constant(std::move(table));
}

/// The tensor that the layer makes between its gates and its projection, of which only the scale counts.
const tflite_tensor& hidden_of(call& c) {
  const auto* between = c.op().data->intermediates();
  const std::size_t count = c.all().known.here().source->tensors.size();
  const int t = between != nullptr && between->size() > hidden_place ? between->Get(hidden_place) : -1;
  c.require(
      t >= 0 && static_cast<std::size_t>(t) < count && is_quantized(c.tensor(t)),
      "it does not say how its hidden numbers are stored, which LiteRT asks of such a layer: --dequantize makes the "
      "model a float32 one");
  return c.tensor(t);
}

void read_weights(call& c, integer_lstm& l, float x_scale, float h_scale) {
  l.x_weights = weights_of_gates(c, l, from_input, l.inputs, x_scale, l.x_factors);
  l.h_weights = weights_of_gates(c, l, from_h, l.outputs, h_scale, l.h_factors);
  array bias(element::i64, {static_cast<std::int64_t>(l.gates.size()) * l.cells});
  for (std::size_t k = 0; k < l.gates.size(); ++k) {
    const array own = long_bias(c, biases + l.gates[k], l.cells);
    for (std::int64_t i = 0; i < l.cells; ++i)
      bias.set_integer(static_cast<std::int64_t>(k) * l.cells + i, own.integer(i));
  }
  l.x_bound = product_bound(*c.at(l.x_weights).constant, l.x_zero) + largest(bias);
  l.h_bound = product_bound(*c.at(l.h_weights).constant, l.h_zero);
  l.bias = c.constant(std::move(bias));
  l.x_weights = transposed(c, l.x_weights, {1, 0});
  l.h_weights = transposed(c, l.h_weights, {1, 0});
}

void read_scales(call& c, integer_lstm& l, const tfl::UnidirectionalSequenceLSTMOptions& o) {
  const int h = c.input(state_h), cell = c.input(state_c);
  const float cell_scale = own_scale(c, cell, type::INT16, false), h_scale = own_scale(c, h, type::INT8, true);
  c.require(
      std::frexp(cell_scale, &l.cell_exponent) == 0.5f && --l.cell_exponent >= min_cell_exponent &&
          l.cell_exponent <= max_cell_exponent,
      "the scale of its cell is no power of two from 2^-15 to 2^-9, which LiteRT asks of such a layer: --dequantize "
      "makes the model a float32 one");
  const tflite_tensor& hidden = hidden_of(c);
  const stored_scale s = scale_of(hidden);
  c.require(s.scale.size() == 1 && hidden.data->type() == type::INT8, "its hidden numbers are not int8 of one scale");
  l.hidden_zero = s.zero[0];
  l.hidden_factor = static_cast<double>(static_cast<float>(std::ldexp(1.0, -30) / static_cast<double>(s.scale[0])));
  if (c.has(projection)) {
    c.require(c.shape(c.input(projection)) == shape_t{l.outputs, l.cells} && c.is_constant(c.input(projection)),
              "its projection does not fit its cells. The file is damaged");
    const value_id weights = c.all().known.integers(c.input(projection), false);
    array bias = long_bias(c, projection + 1, l.outputs);
    l.projection_bound = product_bound(*c.at(weights).constant, l.hidden_zero) + largest(bias);
    l.projection_weights = transposed(c, weights, {1, 0});
    l.projection_bias = c.constant(std::move(bias));
    l.projection_factor =
        static_cast<double>(own_scale(c, c.input(projection), type::INT8, false) * s.scale[0] / h_scale);
  }
  const auto limit = [](float clip, float scale, float maximum) {
    return clip > 0 ? static_cast<std::int64_t>(std::min(clip / scale, maximum)) : 0;
  };
  l.cell_limit = limit(o.cell_clip(), cell_scale, 32767);
  l.projection_limit = limit(o.proj_clip(), h_scale, 127);
}

integer_lstm read_layer(call& c, std::int64_t batch, std::int64_t inputs,
                        const tfl::UnidirectionalSequenceLSTMOptions& o) {
  integer_lstm l;
  const int x = c.input(0), h = c.input(state_h), cell = c.input(state_c);
  if (c.has(from_input + input_gate)) l.gates.push_back(input_gate);
  l.gates.insert(l.gates.end(), {forget_gate, cell_gate, output_gate});
  for (std::size_t i = norms; i < norms + 4; ++i)
    c.require(
        !c.has(i),
        "its gates are normalised, which is not computed in integers: --dequantize makes the model a float32 one");
  c.require(o.fused_activation_function() == tfl::Activation::TANH,
            "its activation is not Tanh, which LiteRT takes for it: --dequantize makes the model a float32 one");
  c.require(c.rank(c.input(from_h + output_gate)) == 2, "its recurrent weights must have two dimensions");
  l.batch = batch, l.inputs = inputs;
  l.cells = c.shape(c.input(from_h + output_gate))[0], l.outputs = c.shape(c.input(from_h + output_gate))[1];
  l.peephole = c.has(from_cell + 2);
  c.require(c.has(from_cell + 1) == l.peephole && c.has(from_cell) == (l.peephole && !l.coupled()),
            "only some of its gates see the cell");
  c.require(l.cells > 0 && l.outputs > 0 && (c.has(projection) || l.cells == l.outputs) &&
                c.shape(h) == shape_t{batch, l.outputs} && c.shape(cell) == shape_t{batch, l.cells} &&
                c.tensor(h).data->is_variable() && c.tensor(cell).data->is_variable() && h != cell,
            "its states do not fit its weights, or are no variables. The file is damaged");
  c.require(!l.peephole || l.cells == l.outputs,
            "its gates see the cell, and it has another number of outputs than of cells, which LiteRT misreads: "
            "--dequantize makes the model a float32 one");
  l.x_zero = zero_of(c, x), l.h_zero = zero_of(c, h);
  read_scales(c, l, o);
  read_weights(c, l, own_scale(c, x, type::INT8, true), own_scale(c, h, type::INT8, true));
  own_scale(c, c.output(), type::INT8, true);
  l.logistic = table_of(c, false, gate_bits);
  l.tanh = table_of(c, true, gate_bits);
  l.tanh_of_cell = table_of(c, true, 15 + l.cell_exponent);
  return l;
}

value_id limited(call& c, value_id v, std::int64_t low, std::int64_t high) {
  return c.emit("Min", {c.emit("Max", {v, long_constant(c, low)}), long_constant(c, high)});
}
value_id as_short(call& c, value_id v) { return limited(c, v, -32768, 32767); }

/// A function of int16 numbers in int64.
value_id looked_up(call& c, value_id table, value_id v) {
  const value_id place = c.emit("Add", {v, long_constant(c, 32768)});
  return as_long(c, c.emit("Gather", {table, place}, {{"axis", std::int64_t{0}}}));
}

/// The argument of a gate with what it sees of the cell.
value_id with_cell(call& c, const integer_lstm& l, std::size_t g, value_id argument, value_id cell) {
  if (!l.peephole || g == cell_gate) return argument;
  const int t = c.input(from_cell + (g == output_gate ? 2 : g));
  c.require(c.shape(t) == shape_t{l.cells} && c.is_constant(t),
            "its peephole weights do not fit its cells. The file is damaged");
  const array stored = decode_tflite(c.tensor(t), false);
  std::vector<std::int64_t> weights;
  for (std::int64_t i = 0; i < l.cells; ++i) weights.push_back(stored.integer(i));
  const double factor = std::ldexp(static_cast<double>(own_scale(c, t, type::INT16, false)), l.cell_exponent + 12),
               bound = 32768 * largest(stored);
  const value_id seen = rescaled(c, c.emit("Mul", {cell, long_constants(c, weights)}), {factor}, bound);
  return as_short(c, c.emit("Add", {seen, argument}));
}

/// One time step from what the gates have of the input: changes h, bytes, and the cell, int64.
void step(call& c, const integer_lstm& l, value_id own, value_id& h, value_id& cell) {
  const value_id recurrent = rescaled(c, integer_product(c, h, l.h_zero, l.h_weights), l.h_factors, l.h_bound);
  const value_id sums = as_short(c, c.emit("Add", {recurrent, own}));
  const value_id sizes = constant_integers(c, std::vector<std::int64_t>(l.gates.size(), l.cells));
  const values parts = c.emit_many("Split", {sums, sizes}, {{"axis", std::int64_t{1}}}, l.gates.size());
  const auto gated = [&](std::size_t g) {
    const value_id argument = with_cell(c, l, g, parts[g - (l.coupled() ? 1 : 0)], cell);
    return looked_up(c, g == cell_gate ? l.tanh : l.logistic, argument);
  };
  const value_id forget = gated(forget_gate), fresh = gated(cell_gate);
  const value_id in = l.coupled() ? c.emit("Sub", {long_constant(c, fixed16::one), forget}) : gated(input_gate);
  const value_id kept = round_shifted(c, c.emit("Mul", {forget, cell}), 15),
                 added = round_shifted(c, c.emit("Mul", {in, fresh}), 30 + l.cell_exponent);
  cell = as_short(c, c.emit("Add", {kept, added}));
  if (l.cell_limit > 0) cell = limited(c, cell, -l.cell_limit, l.cell_limit);
  const value_id out = gated(output_gate);
  const value_id product = c.emit("Mul", {out, looked_up(c, l.tanh_of_cell, cell)});
  const value_id hidden =
      c.emit("Add", {rescaled(c, product, {l.hidden_factor}, 0x1p30), long_constant(c, l.hidden_zero)});
  h = saturated_as(c, hidden, element::i8);
  if (l.projection_weights == no_value) return;
  const value_id sum = c.emit("Add", {integer_product(c, h, l.hidden_zero, l.projection_weights), l.projection_bias});
  value_id y = c.emit("Add", {rescaled(c, sum, {l.projection_factor}, l.projection_bound), long_constant(c, l.h_zero)});
  y = limited(c, y, -128, 127);
  if (l.projection_limit > 0) y = limited(c, y, -l.projection_limit, l.projection_limit);
  h = saturated_as(c, y, element::i8);
}

}

void lstm_stored(call& c) {
  const auto& o = c.options<tfl::UnidirectionalSequenceLSTMOptions>();
  const int x = c.input(0);
  c.require(c.rank(x) == 3 && count_of(c.shape(x)) > 0,
            "its input must have three dimensions: time, batch and numbers");
  sequence s;
  s.x = c.all().known.integers(x, false);
  s.time_major = o.time_major();
  s.steps = c.shape(x)[s.time_major ? 0 : 1], s.batch = c.shape(x)[s.time_major ? 1 : 0], s.inputs = c.shape(x)[2];
  require_unrollable(c, s, "stored integers", 120);
  const integer_lstm l = read_layer(c, s.batch, s.inputs, o);
  const value_id flat = reshaped(c, s.x, {s.steps * s.batch, s.inputs});
  const value_id sum = c.emit("Add", {integer_product(c, flat, l.x_zero, l.x_weights), l.bias});
  const std::int64_t width = static_cast<std::int64_t>(l.gates.size()) * l.cells;
  const value_id own = reshaped(c, as_short(c, rescaled(c, sum, l.x_factors, l.x_bound)), s.whole(width));
  value_id h = c.all().known.integers(c.input(state_h), false),
           cell = as_long(c, c.all().known.integers(c.input(state_c), false));
  values results;
  for (std::int64_t t = 0; t < s.steps; ++t) {
    step(c, l, at_step(c, s, own, t), h, cell);
    results.push_back(h);
  }
  c.all().known.write_integers(c.input(state_h), h);
  c.all().known.write_integers(c.input(state_c), saturated_as(c, cell, element::i16));
  c.all().known.bind_integers(c.output(), over_time(c, s, results), false);
}

}
