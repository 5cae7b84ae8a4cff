// SPDX-License-Identifier: MIT
#pragma once
/// Constants: those that a node reads, and those that a rule makes.
#include <string>
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// Elements of constant input `i`, counted in the budget; `what` is what messages call it. Refuses inputs that are
/// computed at run time, with the options that would make them constants.
std::vector<double> numbers(context& c, std::size_t i, const char* what);
std::vector<std::int64_t> integers(context& c, std::size_t i, const char* what);
/// The only element of a constant input; refuses longer ones.
double number(context& c, std::size_t i, const char* what);
std::int64_t integer(context& c, std::size_t i, const char* what);
/// Numbers that are packed for the engine in the end.
std::vector<double> weights(context& c, std::size_t i, const char* what);

/// Constants of the program's own, named after the node.
int constant(context& c, const std::string& suffix, shape_t shape, const std::vector<double>& values);
int constant_integers(context& c, const std::string& suffix, shape_t shape, element type,
                      const std::vector<std::int64_t>& values);
int scalar(context& c, const std::string& suffix, double value);

}
