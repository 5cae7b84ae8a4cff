// SPDX-License-Identifier: MIT
#pragma once
/// What a runner reads and leaves, as arrays by the source's names.
#include <map>
#include <netsuke/model/model.hpp>
#include <string>
#include "engine/engine.hpp"
#include "graph/array.hpp"

namespace nsk::tool {

/// Copies inputs, in the source's order of axes, to those of the runner; each input of the variant has an array.
void give_inputs(runner& r, const variant_view& v, const std::map<std::string, array>& inputs);
/// give_inputs() with the states, whose arrays are as they are stored.
void give_inputs_and_states(runner& r, const variant_view& v, const std::map<std::string, array>& inputs);
/// Returns output `i` in the source's order of axes.
array output_of(inference& r, const variant_view& v, int i);
/// Returns state `i` as it is stored: what the next run reads.
array state_of(runner& r, const variant_view& v, int i);

}
