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
bool is_plain_number(double number, const graph& g, double rounding);

/// How the numbers of a constant are rounded.
struct number_kind {
  bool is_integer;  ///< they are exact, and stay integers
  double rounding;  ///< relative, of the type they had in the source: float32 twice, or float16 or bfloat16
  int digits;       ///< binary ones of that type
};
inline constexpr number_kind whole_numbers = {true, 1e-12, 53};
inline constexpr number_kind float_numbers = {false, 3e-7, 24};  ///< two and a half units in the last place
/// The kind of a constant: floats are of the narrowest type that holds all of them, as both short ones are widened when
/// a model is read.
number_kind kind_of(const array& numbers);
/// Returns `now` rounded as the model's exporter rounded `was` to `stored`: down for integers, not at all where
/// `stored` is as near as float32, else to the digits of the short float type.
double rounded_alike(double now, double stored, double was, const number_kind& kind);

}
