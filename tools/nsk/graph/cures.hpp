// SPDX-License-Identifier: MIT
#pragma once
/// Options of nsk convert that messages about a node recommend. Each works when it is typed.
#include <optional>
#include <string>

#include "graph/graph.hpp"

namespace nsk::tool {

/// " --set size=VALUE,VALUE": the options that make `v` a constant, where it follows from inputs of few elements alone;
/// empty elsewhere. `g` holds the nodes before it.
std::string options_that_set(const graph& g, value_id v);
/// The options that make several values constants; empty where one of them has none.
std::string options_that_set(const graph& g, const std::vector<value_id>& values);
/// An input of one element, and a number for it.
struct deciding_number {
  std::string input, number;
};
/// The integer that makes a condition true, where it says whether an input is equal to one; nothing for other
/// conditions.
std::optional<deciding_number> number_that_decides(const graph& g, value_id condition);
/// options_that_set() as the end of a sentence; where there are none, that the model may be exported with fixed
/// shapes.
std::string cure_that_sets(const graph& g, value_id v);
/// cure_that_sets() for a condition, with a number that makes it true where one is known.
std::string cure_that_decides(const graph& g, value_id condition);
/// "end the model before it (--output-value x --output-value y) and compute the rest in the game": what `n` reads as
/// outputs in place of the model's. A graph without outputs is still being read, and its values may get other names.
std::string cure_that_ends_before(const graph& g, const node& n);
/// "--output-value scores": output `i` of `n` as the only one of the model; NAME where it has none.
std::string option_that_keeps(const graph& g, const node& n, std::size_t i);

}
