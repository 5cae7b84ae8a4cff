// SPDX-License-Identifier: MIT
#pragma once
/// Single nodes of the reference: what the evaluator's loop and constant folding share.
#include <vector>
#include "reference/operators.hpp"

namespace nsk::tool::reference {

/// A value during evaluation: elements held as f64, i64 or boolean, and the type that the model declares.
struct typed_array {
  element type = element::f32;
  array data;
};

typed_array hold(const array& a);

/// Refuses operators that the reference does not know.
void require_known(const graph& g, const node& n);

/// A call of `n` whose inputs are still absent.
call make_call(const graph& g, const node& n);
/// Sets type and shape of the outputs; refuses shapes that are negative or too large.
void infer_node(call& c);
/// About how many multiply-adds evaluating an inferred call takes, beyond reading its inputs and writing its outputs.
double work_of(call& c);
/// Evaluates an inferred call whose inputs all have data.
std::vector<typed_array> evaluate_call(call& c);
/// Infers and evaluates; absent inputs are null.
std::vector<typed_array> evaluate_node(const graph& g, const node& n, const std::vector<const typed_array*>& inputs);

/// The subgraph that an If with this condition runs.
const graph* branch_of(const graph& g, const node& n, const array& condition);

}
