// SPDX-License-Identifier: MIT
#pragma once
/// Makes a network of a whole signal one that takes it chunk by chunk: what its windows and layers over time saw before
/// becomes states.
#include <functional>
#include <string>
#include <vector>

#include "chunks/flow.hpp"
#include "graph/graph.hpp"

namespace nsk::tool::chunks {

/// --stream NAME=CHUNK, or NAME=CHUNK+LATE for a network that looks ahead.
struct choice {
  std::string name;        ///< of the open axis that the samples have
  std::int64_t chunk = 0;  ///< largest number of samples of a chunk
  std::int64_t late = 0;   ///< how many samples late outputs may be
};
/// Reads "160" or "160+3". Misuse: other texts.
choice parse_choice(const std::string& name, const std::string& text);

/// An output, and what the chunks give of it.
struct output {
  std::string name;
  course c;
  std::int64_t extra = 0;  ///< elements that the whole signal has more than it has samples for them
};

/// A network that takes chunks.
struct network {
  graph g;                ///< to be resolved: its inputs have an open axis of the signal's name
  std::int64_t step = 1;  ///< chunks have multiples of so many samples
  std::int64_t history = 0;
  std::vector<output> outputs;
  std::vector<std::string> notes;  ///< for people
};

/// A model, resolved for a signal of so many samples, with its states.
struct whole_model {
  graph g;
  std::vector<state_link> states;
};
using whole_source = std::function<whole_model(std::int64_t samples)>;

/// Writes the network for chunks. It must be the same for signals of two lengths. Refuses, naming the node, what needs
/// the whole signal, what is not known, and what looks ahead farther than the choice allows. Misuse: chunks that are no
/// multiples of the network's strides.
network in_chunks(const choice& wanted, const graph& source, const whole_source& whole);

}
