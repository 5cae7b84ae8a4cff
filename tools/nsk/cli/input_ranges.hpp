// SPDX-License-Identifier: MIT
#pragma once
/// --input-range and --hdr: what a game will put into an input.
#include <map>
#include <string>
#include <netsuke/model/model.hpp>
#include "cli/source_options.hpp"
#include "graph/graph.hpp"
#include "graph/input_range.hpp"

namespace nsk::tool {

/// Returns the ranges of inputs of `g`, the source as the options change it, by their new names. Misuse: names that are
/// no input, ranges that are none.
input_ranges ranges_of(const source_options& o, const graph& g);

/// Ranges as metadata of the converted model, and back.
void record_ranges(const input_ranges& ranges, std::map<std::string, std::string>& metadata);
input_ranges recorded_ranges(const model& m);

}
