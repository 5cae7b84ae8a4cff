// SPDX-License-Identifier: MIT
#pragma once
/// Whether a network for chunks computes what the model computes for the whole signal.
#include <map>
#include <utility>

#include "chunks/chunks.hpp"

namespace nsk::tool::chunks {

/// The network for chunks of so many samples, resolved, with its states.
using chunk_source = whole_source;

/// How long a signal is that shows what the network remembers, and some chunks more; at most `max_samples`.
std::int64_t signal_length(const network& net, std::int64_t chunk, std::int64_t max_samples);
/// Lengths of chunks of a signal: the shortest ones, and by chance the longest one and one between.
std::vector<std::int64_t> chunk_lengths(const network& net, std::int64_t chunk, std::int64_t samples);
/// A value for each input of a model, states included: by chance, and for states that of the first run.
std::map<std::string, array> random_signal(const whole_model& m);
/// The axis that has the samples, of inputs that have it.
std::map<std::string, std::size_t> signal_axes_of(const network& net);
/// Elements [from, to) of an axis.
array part_of(const array& a, std::size_t axis, std::int64_t from, std::int64_t to);
/// What a chunk gave of an output, and the whole signal's elements for the same samples; without elements where the
/// chunk gives none.
std::pair<array, array> same_elements(const output& o, const array& of_chunk, const array& of_all, std::int64_t from,
                                      std::int64_t to);

/// Evaluates a random signal of so many samples whole and in chunks, in double precision. Throws
/// exit_code::check_failed where an output differs.
void compare_with_whole(const network& net, std::int64_t chunk, const whole_source& whole, const chunk_source& chunked,
                        std::int64_t samples);

}
