// SPDX-License-Identifier: MIT
#pragma once
/// Why layers are what they are, in words.
#include <set>
#include <string>
#include <vector>
#include "quantize/choose/choose.hpp"
#include "quantize/apply/network.hpp"
#include "quantize/apply/quantize.hpp"

namespace nsk::tool {

/// Notes why layers that are not integers are not. `kept`: all that stay float32; `slow`: of these, what is estimated
/// faster so; `beyond`: names of layers whose sums int32 may not hold.
void find_reasons(std::vector<layer_result>& layers, const network& n, const graph& floats, const quantize_choices& how,
                  const std::set<std::string>& kept, const std::set<std::string>& slow,
                  const std::vector<std::string>& beyond);

/// What happened, for people. `returned`: how many layers stay float32 for a bound.
std::vector<std::string> notes_of(const quantize_result& r, std::size_t returned);

/// What is expected of a file's speed, for people: on a target, where `slow` of the layers stay float32 because that is
/// faster; without one, a warning, or nothing where integers are faster in any case.
std::string note_of(const expected_time& e, const target* t, std::size_t slow, std::size_t layers);

}
