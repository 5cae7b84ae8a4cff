// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of which rules compose operators. Each function adds one operation and returns its result: a value named
/// after the node and `suffix`, or `result` where one is given.
#include <string>
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// Integers that the engine computes with; the others it only moves, compares and chooses.
inline bool is_computed_integer(element t) { return t == element::i32 || t == element::i64; }

/// The shape of two values that are broadcast against each other.
shape_t broadcast_shape(const context& c, int a, int b);
/// f(x).
int apply(context& c, int x, function fn, const std::string& suffix, double alpha = 0, double beta = 0,
          int result = no_value);
/// a and b, broadcast against each other.
int combine(context& c, binary_kind kind, int a, int b, const std::string& suffix, int result = no_value);
/// a and b, integers of one type that the engine computes with, broadcast against each other.
int combine(context& c, arithmetic_kind kind, int a, int b, const std::string& suffix, int result = no_value);
/// The larger or the smaller of a and b, of any type but float32. What the engine cannot compute in, it compares and
/// selects.
int extreme_of(context& c, bool largest, int a, int b, const std::string& suffix, int result = no_value);
/// The product of matrices of integers that the engine computes with, both of the rank of `full`, its shape.
int integer_product(context& c, int left, int right, const shape_t& full);
/// Reduction over axes that keep length 1.
int reduced(context& c, reduce_kind kind, int x, const std::vector<int>& axes, const std::string& suffix);

}
