// SPDX-License-Identifier: MIT
#pragma once
/// Operations that move elements or only name them otherwise. Results are values named after the node and `suffix`.
#include <string>
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// Makes input 0 the node's output.
void identity(context& c);
/// `v` under another shape; itself where it has that shape.
int reshaped(context& c, int v, shape_t shape);
/// `v` with its axes permuted: axis i of the result is axis permutation[i]. Made as `result` where one is given.
int transposed(context& c, int v, const std::vector<int>& permutation, const std::string& suffix,
               int result = no_value);
/// x[from, from + length) along an axis; x itself where that is all of it.
int part(context& c, int x, std::size_t axis, std::int64_t from, std::int64_t length, const std::string& suffix);
/// a, then b, along an axis.
int appended(context& c, std::size_t axis, int a, int b, const std::string& suffix);
/// Takes all of an input of `rank` axes; a rule changes the axes that it cuts.
slice_parameters whole_slice(std::size_t rank);

}
