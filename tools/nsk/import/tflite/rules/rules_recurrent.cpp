// SPDX-License-Identifier: MIT
/// Rules for layers with a memory: plain recurrent layers in one or two directions, and SVDF. Their variable tensors
/// become states.
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/recurrent_stored.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/sequence.hpp"

namespace nsk::tool::tflite {
namespace {

struct rnn_layer {
  value_id from_input, from_h, bias;
  int state;
  std::int64_t hidden;
  tfl::Activation a;
};

/// Weights, recurrent weights and bias from input `first` on; input `state` is the state.
void read_layer(call& c, rnn_layer& r, const sequence& s, std::size_t first, std::size_t state) {
  c.require(c.rank(c.input(first + 1)) == 2, "its recurrent weights must have two dimensions");
  r.hidden = c.shape(c.input(first + 1))[0];
  r.from_h = weights_of(c, first + 1, {r.hidden, r.hidden});
  r.from_input = weights_of(c, first, {r.hidden, s.inputs});
  r.bias = weights_of(c, first + 2, {r.hidden});
  r.state = state_at(c, state, {s.batch, r.hidden});
}

value_id recurrence(call& c, const sequence& s, const rnn_layer& r) {
  const shape_t state = s.one(r.hidden);
  const value_id h = reshaped(c, c.plain(r.state), state);
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
    const value_id bias = joined(c, {r.bias, c.constant(array(element::f32, {r.hidden}))}, 0);
    const values y =
        c.emit_many("RNN",
                    {s.x, reshaped(c, r.from_input, {1, r.hidden, s.inputs}),
                     reshaped(c, r.from_h, {1, r.hidden, r.hidden}), reshaped(c, bias, {1, 2 * r.hidden}), no_value, h},
                    std::move(a), 2);
    write_variable(c, r.state, reshaped(c, y[1], {s.batch, r.hidden}));
    return reshaped(c, y[0], s.whole(r.hidden));
  }
  require_unrollable(c, s, "this activation");
  const value_id own = c.emit("Add", {c.emit("MatMul", {s.x, transposed(c, r.from_input, {1, 0})}), r.bias});
  const value_id recurrent = transposed(c, r.from_h, {1, 0});
  value_id now = c.plain(r.state);
  values results;
  for (std::int64_t i = 0; i < s.steps; ++i) {
    const value_id sum = c.emit("Add", {at_step(c, s, own, s.nth(i)), c.emit("MatMul", {now, recurrent})});
    results.push_back(now = layer_activated(c, sum, r.a));
  }
  write_variable(c, r.state, now);
  return over_time(c, s, results);
}

/// RNN and UNIDIRECTIONAL_SEQUENCE_RNN.
void recurrent_layer(call& c) {
  c.require_operands(5, 5);
  const bool one = c.name() == "RNN";
  rnn_layer r{};
  sequence s;
  if (one) {
    s = one_step_of(c, c.input(0));
    r.a = c.options<tfl::RNNOptions>().fused_activation_function();
  } else {
    const auto& o = c.options<tfl::SequenceRNNOptions>();
    s = sequence_of(c, c.input(0), o.time_major());
    r.a = o.fused_activation_function();
  }
  read_layer(c, r, s, 1, 4);
  const value_id y = recurrence(c, s, r);
  c.bind(0, one ? reshaped(c, y, {s.batch, r.hidden}) : y);
}

/// With auxiliary weights, the auxiliary input is read by both directions in addition to the input; without them, it is
/// what the backward direction reads instead.
void bidirectional_recurrent_layer(call& c) {
  const auto& o = c.options<tfl::BidirectionalSequenceRNNOptions>();
  c.require_operands(12, 12, o.merge_outputs() ? 1 : 2);
  constexpr std::size_t auxiliary = 9, state[] = {4, 8}, first[] = {1, 5}, auxiliary_weights[] = {10, 11};
  const bool crossed = c.has(auxiliary_weights[0]);
  c.require(crossed == c.has(auxiliary_weights[1]), "only one of its directions has auxiliary weights");
  c.require(!crossed || c.has(auxiliary), "it has auxiliary weights, but no auxiliary input");
  c.require(
      crossed || !c.has(auxiliary) || o.time_major(),
      "its backward direction has an input of its own, which runtimes read only where time is the first axis. Export "
      "it with time_major");
  value_id y[2];
  for (std::size_t d = 0; d < 2; ++d) {
    sequence s = sequence_of(c, c.input(d == 1 && !crossed && c.has(auxiliary) ? auxiliary : 0), o.time_major());
    s.backwards = d == 1;
    rnn_layer r{};
    r.a = o.fused_activation_function();
    read_layer(c, r, s, first[d], state[d]);
    if (crossed) {
      const sequence both = with_auxiliary(c, s, c.input(auxiliary));
      c.require(both.inputs == 2 * s.inputs, "input and auxiliary input differ in size, which runtimes misread");
      r.from_input =
          joined(c, {r.from_input, weights_of(c, auxiliary_weights[d], {r.hidden, both.inputs - s.inputs})}, 1);
      s = both;
    }
    y[d] = recurrence(c, s, r);
  }
  bind_directions(c, o.merge_outputs(), y[0], y[1]);
}

/// A dense layer of filters; each keeps its last results, and their weighted sum is what it gives. `rank` filters make
/// an output.
void filter_over_time(call& c) {
  c.require_operands(5, 5);
  if (c.is_stored(c.input(0))) return filter_stored(c);
  const auto& o = c.options<tfl::SVDFOptions>();
  const sequence s = one_step_of(c, c.input(0));
  c.require(c.rank(c.input(1)) == 2 && c.rank(c.input(2)) == 2, "its weights must have two dimensions");
  const std::int64_t filters = c.shape(c.input(1))[0], length = c.shape(c.input(2))[1], per_output = o.rank();
  c.require(filters > 0 && length > 0 && per_output > 0 && filters % per_output == 0,
            "its rank does not divide its filters");
  const std::int64_t outputs = filters / per_output;
  const value_id over_input = weights_of(c, 1, {filters, s.inputs}), through_time = weights_of(c, 2, {filters, length});
  const int state = state_at(c, 4, {s.batch, filters * length}, true);
  const value_id x = reshaped(c, s.x, {s.batch, s.inputs});
  value_id held = saturated(c, c.emit("MatMul", {x, transposed(c, over_input, {1, 0})}), state);
  held = reshaped(c, held, {s.batch, filters, 1});
  if (length > 1) {
    const value_id before = reshaped(c, c.plain(state), {s.batch, filters, length});
    const value_id kept =
        c.emit("Slice", {before, constant_integers(c, {1}), constant_integers(c, {length}), constant_integers(c, {2})});
    held = joined(c, {kept, held}, 2);
  }
  write_variable(c, state, reshaped(c, held, {s.batch, filters * length}));
  const shape_t grouped = {s.batch, outputs, per_output * length};
  const value_id weighted =
      c.emit("Mul", {reshaped(c, held, grouped), reshaped(c, through_time, {1, outputs, per_output * length})});
  value_id y = c.emit("ReduceSum", {weighted, constant_integers(c, {2})}, {{"keepdims", std::int64_t{0}}});
  if (c.has(3)) y = c.emit("Add", {y, weights_of(c, 3, {outputs})});
  finish(c, 0, layer_activated(c, y, o.fused_activation_function()));
}

}

void add_recurrent(table& t) {
  t["RNN"] = {recurrent_layer};
  t["UNIDIRECTIONAL_SEQUENCE_RNN"] = {recurrent_layer};
  t["BIDIRECTIONAL_SEQUENCE_RNN"] = {bidirectional_recurrent_layer};
  t["SVDF"] = {filter_over_time};
}

}
