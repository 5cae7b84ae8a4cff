// SPDX-License-Identifier: MIT
#pragma once
/// Recurrent states of a network: inputs that are fed by an output of the run before.
#include <map>
#include <string>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// What the command line says about states.
struct state_options {
  std::map<std::string, std::string> given;  ///< --state INPUT=OUTPUT
  bool find = true;                          ///< also those of the source, and those that names make plain; --no-states
};

/// Returns the states of a resolved graph (infer.hpp), in the order of its inputs: those given, those of the source
/// (graph::states), and those that names and shapes make plain. Plain is a float input and an output of one shape,
/// called as a state is ("state", "hidden", "cell", "memory", "h", "c" and their like), whose names differ as before
/// and after do: state and stateN, h0 and hn, hidden_in and hidden_out, past_state and present_state. The output must
/// take in an input that is no such state, directly or by other states; "state" beside "next_state" is none, because
/// agents observe the one and predict the other. Nothing is found where no input or no output would be left. Without
/// `find`, states of the source are inputs and outputs like all others; refused where they begin with other numbers
/// than zeros, which an input cannot say. Misuse: names that are no input or output, or were used twice, and shapes or
/// types that differ.
std::vector<state_link> states_of(const graph& g, const state_options& options);

}
