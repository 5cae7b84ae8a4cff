// SPDX-License-Identifier: MIT
#pragma once
/// Whether a model made for several rows computes what it does for one.
#include <cstdint>
#include <functional>
#include <string>

#include <netsuke/model/model.hpp>

#include "graph/graph.hpp"

namespace nsk::tool {

/// Whether the inputs of `g` differ from those of `exported` by rows alone.
bool has_other_rows(const graph& exported, const graph& g);

/// Compares rows of `g`, a resolved graph whose inputs have several rows where those of `exported` have one, with runs
/// of `exported` on each of three rows alone, by the evaluator; `m` is the converted model. Returns a sentence for the
/// summary; empty where the inputs differ in another way. Refuses a graph whose rows are others, naming the output, and
/// one with rows on another axis than the first along which a constant is broadcast.
std::string compare_rows(const graph& exported, const graph& g, const model& m, int variant, std::uint64_t seed);

}
