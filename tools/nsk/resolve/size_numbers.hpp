// SPDX-License-Identifier: MIT
#pragma once
/// Which numbers of a node may have been made of a length.
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace nsk::tool {

/// Where a node has numbers, and how they are judged: those that are shapes or axes have readings of their own
/// (length_readings.cpp); of weights a few may look like lengths by chance.
enum class number_role { shape, weights, operand };
number_role role_of(const node& n, std::size_t input);

/// Attributes of an operator that may be lengths, or made of them.
const std::vector<std::string>& length_attributes(const std::string& op);

/// Whether networks have a number of their own, whatever the lengths; `g` shows in which company it stands.
bool is_plain_number(double number, const graph& g);

/// Whether a float32 came from a float16 of which it needs the last digits.
bool needs_half_digits(double number);

}
