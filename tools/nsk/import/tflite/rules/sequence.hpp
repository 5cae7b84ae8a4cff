// SPDX-License-Identifier: MIT
#pragma once
/// What rules of recurrent layers share: what a layer reads, one time step after the other, its weights and its states.
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

/// The input of a layer over time.
struct sequence {
  value_id x = no_value;  ///< [steps, batch, inputs], or with the batch first
  bool time_major = false, backwards = false;
  std::int64_t steps = 1, batch = 1, inputs = 1;

  std::int64_t time_axis() const { return time_major ? 0 : 1; }
  /// The shape of something that has `length` numbers at every time step.
  shape_t whole(std::int64_t length) const {
    return time_major ? shape_t{steps, batch, length} : shape_t{batch, steps, length};
  }
  /// The shape of what has `length` numbers at one time step.
  shape_t one(std::int64_t length) const { return time_major ? shape_t{1, batch, length} : shape_t{batch, 1, length}; }
  /// Number of the time step that is computed as the i-th.
  std::int64_t nth(std::int64_t i) const { return backwards ? steps - 1 - i : i; }
};

/// The tensor `x` of three dimensions.
sequence sequence_of(call& c, int x, bool time_major);
/// A single time step: the tensor `x` [batch, inputs].
sequence one_step_of(call& c, int x);
/// The sequence with the numbers of another one behind its own.
sequence with_auxiliary(call& c, const sequence& s, int auxiliary);
/// What `v` holds at time step `t`, as [batch, numbers].
value_id at_step(call& c, const sequence& s, value_id v, std::int64_t t);
/// Results [batch, numbers] of all time steps, given in the order of their computation, as one sequence.
value_id over_time(call& c, const sequence& s, const values& results);
/// Refuses sequences that are too long to be computed one time step after the other, `why` they must be, and files in
/// which that comes to too many nodes, `nodes` for each step.
void require_unrollable(call& c, const sequence& s, const char* why, std::size_t nodes = 24);

/// Operand `i`; refuses others than float32 of the shape `wanted`.
value_id weights_of(call& c, std::size_t i, const shape_t& wanted);
/// The variable tensor that is operand `i`. Refuses other shapes, and quantised states, whose rounding a float32 layer
/// does not have, but where the layer saturates as they do (`quantized_too`).
int state_at(call& c, std::size_t i, const shape_t& wanted, bool quantized_too = false);
void write_variable(call& c, int t, value_id v);

/// An activation of a layer with a memory, which may be a Tanh.
value_id layer_activated(call& c, value_id v, tfl::Activation a);
/// Results of both directions: one behind the other, or as two outputs.
void bind_directions(call& c, bool merged, value_id forwards, value_id backwards);

}
