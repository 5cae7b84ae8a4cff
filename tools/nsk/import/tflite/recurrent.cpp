// SPDX-License-Identifier: MIT
/// Rules for layers with a memory: plain recurrent layers in one or two directions, and SVDF. Their variable tensors
/// become states.
#include "import/tflite/recurrent.hpp"

#include <cmath>

#include "import/tflite/constants.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;
constexpr std::int64_t most_unrolled = 256;  // instants of a layer that is computed one by one

}

struct tflite_importer::rnn_layer {
  value_id from_input, from_h, bias;
  int state;
  std::int64_t hidden;
  tfl::Activation a;
};

tflite_importer::sequence tflite_importer::sequence_of(int x, bool time_major) {
  require(rank(x) == 3 && type_of(x) == element::f32 && count_of(shape(x)) > 0,
          "its input must be float32 of three dimensions: time, batch and numbers");
  sequence s;
  s.x = plain(x);
  s.time_major = time_major;
  s.instants = shape(x)[time_major ? 0 : 1];
  s.batch = shape(x)[time_major ? 1 : 0];
  s.inputs = shape(x)[2];
  return s;
}

/// A single instant, [batch, inputs].
tflite_importer::sequence tflite_importer::instant_of(int x) {
  require(rank(x) == 2 && type_of(x) == element::f32 && count_of(shape(x)) > 0,
          "its input must be float32 of two dimensions: batch and numbers");
  sequence s;
  s.batch = shape(x)[0];
  s.inputs = shape(x)[1];
  s.time_major = true;
  s.x = reshaped(plain(x), {1, s.batch, s.inputs});
  return s;
}

/// The sequence with the numbers of another one behind its own.
tflite_importer::sequence tflite_importer::with_auxiliary(const sequence& s, int auxiliary) {
  const sequence other = sequence_of(auxiliary, s.time_major);
  require(other.instants == s.instants && other.batch == s.batch, "input and auxiliary input differ in time or batch");
  sequence both = s;
  both.x = joined({s.x, other.x}, 2);
  both.inputs += other.inputs;
  return both;
}

value_id tflite_importer::weights_of(std::size_t i, const shape_t& wanted) {
  const int t = input(i);
  if (shape(t) != wanted || type_of(t) != element::f32)
    fail("input " + std::to_string(i) + " ('" + tensor(t).name + "') is " + name_of(type_of(t)) + " " +
         to_string(shape(t)) + ", but must be float32 " + to_string(wanted));
  return plain(t);
}

/// A variable tensor of the given shape. Quantised ones, whose rounding a float32 layer does not have, where the layer
/// saturates as they do.
int tflite_importer::state_at(std::size_t i, const shape_t& wanted, bool quantized_too) {
  weights_of(i, wanted);
  if (!tensor(input(i)).data->is_variable())
    fail("its state '" + tensor(input(i)).name + "' is no variable, so it would be lost from run to run");
  if (is_quantized(tensor(input(i))) && !quantized_too)
    fail("its state '" + tensor(input(i)).name + "' is quantised, which is not supported here. Export it in float32");
  return input(i);
}

/// The value within what the quantised tensor `t` can hold.
value_id tflite_importer::saturated(value_id v, int t) {
  if (!is_quantized(tensor(t))) return v;
  const auto [low, high] = quantized_range(tensor(t));
  return emit("Clip", {v, constant_number(low), constant_number(high)});
}

value_id tflite_importer::joined(const values& parts, std::int64_t axis) {
  return parts.size() == 1 ? parts[0] : emit("Concat", parts, {{"axis", axis}});
}

/// What `v` holds at instant `t`, as [batch, numbers].
value_id tflite_importer::at_instant(const sequence& s, value_id v, std::int64_t t) {
  const std::int64_t length = at(v).shape[2];
  if (s.instants > 1)
    v = emit("Slice", {v, constant_integers({t}), constant_integers({t + 1}), constant_integers({s.time_axis()})});
  return reshaped(v, {s.batch, length});
}

/// Results [batch, numbers] of all instants, given in the order of their computation, as one sequence.
value_id tflite_importer::over_time(const sequence& s, values steps) {
  values parts(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i)
    parts[static_cast<std::size_t>(s.nth(static_cast<std::int64_t>(i)))] =
        reshaped(steps[i], s.one(at(steps[i]).shape[1]));
  return joined(parts, s.time_axis());
}

void tflite_importer::require_unrollable(const sequence& s, const char* why) const {
  if (s.instants > most_unrolled)
    fail("a layer with " + std::string(why) + " is computed instant by instant, and " + std::to_string(s.instants) +
         " instants are more than " + std::to_string(most_unrolled) +
         ". Export it for fewer instants at a time; its state carries on from run to run");
}

/// An activation of a layer with a memory, which may be a Tanh.
value_id tflite_importer::layer_activated(value_id v, tfl::Activation a) {
  return a == tfl::Activation::TANH ? emit("Tanh", {v}) : activated(v, a, -HUGE_VAL, HUGE_VAL);
}

value_id tflite_importer::recurrence(const sequence& s, const rnn_layer& r) {
  const shape_t state = s.one(r.hidden);
  const value_id h = reshaped(plain(r.state), state);
  if (r.a == tfl::Activation::NONE || r.a == tfl::Activation::RELU || r.a == tfl::Activation::TANH) {
    attributes a = {{"hidden_size", r.hidden},
                    {"direction", std::string(s.backwards ? "reverse" : "forward")},
                    {"layout", std::int64_t{!s.time_major}}};
    const char* const name = r.a == tfl::Activation::NONE ? "Affine" : r.a == tfl::Activation::RELU ? "Relu" : "Tanh";
    a["activations"] = std::vector<std::string>{name};
    if (r.a == tfl::Activation::NONE) {
      a["activation_alpha"] = std::vector<float>{1};
      a["activation_beta"] = std::vector<float>{0};
    }
    const value_id bias = joined({r.bias, constant(array(element::f32, {r.hidden}))}, 0);
    const values y =
        emit_many("RNN",
                  {s.x, reshaped(r.from_input, {1, r.hidden, s.inputs}), reshaped(r.from_h, {1, r.hidden, r.hidden}),
                   reshaped(bias, {1, 2 * r.hidden}), no_value, h},
                  std::move(a), 2);
    write_variable(r.state, reshaped(y[1], {s.batch, r.hidden}));
    return reshaped(y[0], s.whole(r.hidden));
  }
  require_unrollable(s, "this activation");
  const value_id own = emit("Add", {emit("MatMul", {s.x, transposed(r.from_input, {1, 0})}), r.bias});
  const value_id recurrent = transposed(r.from_h, {1, 0});
  value_id now = plain(r.state);
  values steps;
  for (std::int64_t i = 0; i < s.instants; ++i) {
    const value_id sum = emit("Add", {at_instant(s, own, s.nth(i)), emit("MatMul", {now, recurrent})});
    steps.push_back(now = layer_activated(sum, r.a));
  }
  write_variable(r.state, now);
  return over_time(s, steps);
}

/// RNN and UNIDIRECTIONAL_SEQUENCE_RNN.
void tflite_importer::recurrent_layer() {
  require_operands(5, 5);
  const bool one = m_op->name == "RNN";
  rnn_layer r{};
  sequence s;
  if (one) {
    s = instant_of(input(0));
    r.a = options<tfl::RNNOptions>().fused_activation_function();
  } else {
    const auto& o = options<tfl::SequenceRNNOptions>();
    s = sequence_of(input(0), o.time_major());
    r.a = o.fused_activation_function();
  }
  read_layer(r, s, 1, 4);
  const value_id y = recurrence(s, r);
  bind(output(), one ? reshaped(y, {s.batch, r.hidden}) : y, false);
}

/// Weights, recurrent weights and bias from input `first` on; input `state` is the state.
void tflite_importer::read_layer(rnn_layer& r, const sequence& s, std::size_t first, std::size_t state) {
  require(rank(input(first + 1)) == 2, "its recurrent weights must have two dimensions");
  r.hidden = shape(input(first + 1))[0];
  r.from_h = weights_of(first + 1, {r.hidden, r.hidden});
  r.from_input = weights_of(first, {r.hidden, s.inputs});
  r.bias = weights_of(first + 2, {r.hidden});
  r.state = state_at(state, {s.batch, r.hidden});
}

/// Results of both directions: one behind the other, or as two outputs.
void tflite_importer::bind_directions(bool merged, value_id forwards, value_id backwards) {
  if (merged) return bind(output(), joined({forwards, backwards}, 2), false);
  bind(output(0), forwards, false);
  bind(output(1), backwards, false);
}

/// With auxiliary weights, the auxiliary input is read by both directions in addition to the input; without them, it is
/// what the backward direction reads instead.
void tflite_importer::bidirectional_recurrent_layer() {
  const auto& o = options<tfl::BidirectionalSequenceRNNOptions>();
  require_operands(12, 12, o.merge_outputs() ? 1 : 2);
  constexpr std::size_t auxiliary = 9, state[] = {4, 8}, first[] = {1, 5}, auxiliary_weights[] = {10, 11};
  const bool crossed = has(auxiliary_weights[0]);
  require(crossed == has(auxiliary_weights[1]), "only one of its directions has auxiliary weights");
  require(!crossed || has(auxiliary), "it has auxiliary weights, but no auxiliary input");
  require(
      crossed || !has(auxiliary) || o.time_major(),
      "its backward direction has an input of its own, which runtimes read only where time is the first axis. Export "
      "it with time_major");
  value_id y[2];
  for (std::size_t d = 0; d < 2; ++d) {
    sequence s = sequence_of(input(d == 1 && !crossed && has(auxiliary) ? auxiliary : 0), o.time_major());
    s.backwards = d == 1;
    rnn_layer r{};
    r.a = o.fused_activation_function();
    read_layer(r, s, first[d], state[d]);
    if (crossed) {
      const sequence both = with_auxiliary(s, input(auxiliary));
      require(both.inputs == 2 * s.inputs, "input and auxiliary input differ in size, which runtimes misread");
      r.from_input = joined({r.from_input, weights_of(auxiliary_weights[d], {r.hidden, both.inputs - s.inputs})}, 1);
      s = both;
    }
    y[d] = recurrence(s, r);
  }
  bind_directions(o.merge_outputs(), y[0], y[1]);
}

/// A dense layer of filters; each keeps its last results, and their weighted sum is what it gives. `rank` filters make
/// an output.
void tflite_importer::filter_over_time() {
  require_operands(5, 5);
  const auto& o = options<tfl::SVDFOptions>();
  const sequence s = instant_of(input(0));
  require(rank(input(1)) == 2 && rank(input(2)) == 2, "its weights must have two dimensions");
  const std::int64_t filters = shape(input(1))[0], length = shape(input(2))[1], per_output = o.rank();
  require(filters > 0 && length > 0 && per_output > 0 && filters % per_output == 0,
          "its rank does not divide its filters");
  const std::int64_t outputs = filters / per_output;
  const value_id over_input = weights_of(1, {filters, s.inputs}), through_time = weights_of(2, {filters, length});
  const int state = state_at(4, {s.batch, filters * length}, true);
  const value_id x = reshaped(s.x, {s.batch, s.inputs});
  value_id held = saturated(emit("MatMul", {x, transposed(over_input, {1, 0})}), state);
  held = reshaped(held, {s.batch, filters, 1});
  if (length > 1) {
    const value_id before = reshaped(plain(state), {s.batch, filters, length});
    const value_id kept =
        emit("Slice", {before, constant_integers({1}), constant_integers({length}), constant_integers({2})});
    held = joined({kept, held}, 2);
  }
  write_variable(state, reshaped(held, {s.batch, filters * length}));
  const shape_t grouped = {s.batch, outputs, per_output * length};
  const value_id weighted =
      emit("Mul", {reshaped(held, grouped), reshaped(through_time, {1, outputs, per_output * length})});
  value_id y = emit("ReduceSum", {weighted, constant_integers({2})}, {{"keepdims", std::int64_t{0}}});
  if (has(3)) y = emit("Add", {y, weights_of(3, {outputs})});
  finish(output(), layer_activated(y, o.fused_activation_function()), false);
}

}
