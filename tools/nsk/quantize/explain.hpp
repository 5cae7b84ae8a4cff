// SPDX-License-Identifier: MIT
#pragma once
/// Why layers are what they are, in words.
#include <set>
#include <string>
#include <vector>
#include "quantize/choose.hpp"
#include "quantize/network.hpp"
#include "quantize/quantize.hpp"

namespace nsk::tool {

/// Notes why layers that are not integers are not. `kept`: all that stay float32; `beyond`: names of
/// layers whose sums int32 may not hold.
void find_reasons(std::vector<layer_result>& layers, const network& n, const graph& floats, const quantize_choices& how,
                  const std::set<std::string>& kept, const layer_choice& choice,
                  const std::vector<std::string>& beyond);

/// What happened, for people. `returned`: how many layers stay float32 for a bound.
std::vector<std::string> notes_of(const quantize_result& r, std::size_t returned);

/// What the choice for a machine says, for people.
std::string note_of(const layer_choice& choice, const target& t, std::size_t layers, std::size_t returned);

}
