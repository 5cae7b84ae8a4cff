// SPDX-License-Identifier: MIT
#pragma once
/// --stream NAME=CHUNK: from a source model to the network that takes chunks of its signal.
#include <map>
#include <string>

#include "chunks/compare.hpp"
#include "cli/source_options.hpp"
#include "compile/compile.hpp"
#include "engine/model_file.hpp"
#include "resolve/changes.hpp"
#include "resolve/lengths/input_options.hpp"
#include "resolve/states.hpp"

namespace nsk::tool {

/// What a network for chunks was made of.
struct chunked_source {
  chunks::choice wanted;
  chunks::network net;
  chunks::whole_source whole;
  chunks::chunk_source chunk;
};

/// Puts the network for chunks in the place of a variant's source, which is imported, with its axes named: `v` gets the
/// length of the chunks, and a comparison with the whole signal. The options and changes are those of the source, and
/// used up. Refuses options that do not go with it.
void take_chunks(const source_options& o, variant_source& v, input_options& inputs, const state_options& states,
                 const model_changes& changes);

/// Records --stream for resolve_chunks().
void record_chunks(const source_options& o, std::map<std::string, std::string>& metadata);

/// Makes an imported source the resolved network for chunks that a file was made of. False where it is no such file.
bool resolve_chunks(graph& g, const model& m, input_options inputs);

}
