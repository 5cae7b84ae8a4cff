// SPDX-License-Identifier: MIT
#pragma once
/// The policy of policy_plan.hpp with a length in the place of its batch.
#include "policy_plan.hpp"

namespace test {

inline constexpr std::uint8_t no_length = 255, offset_number = 12;

/// Every tensor with rows has as many as the length "rows"; rows are one behind the other.
inline plan_spec make_lengths() {
  plan_spec p = make_policy();
  p.batch = 0;
  p.lengths = {{"rows", 1, policy_rows}};
  for (tensor_spec& t : p.tensors) {
    if (t.batch != 0) t.terms = {format::Term(t.batch, 0, 0, no_length, no_length)};
    t.batch = 0;
  }
  return p;
}

/// As many rows as the length "rows" says, from the last one to the first.
inline plan_spec make_backwards() {
  constexpr std::int32_t bound = 6;
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {bound, 2}, 1), y = p.add_output("y", {bound, 2}, 0, 1),
                      from = p.add_tensor("from", {bound, 2}, p.tensors[x].buffer);
  for (const std::uint32_t t : {x, y, from}) p.tensors[t].terms = {format::Term(1, 0, 0, no_length, no_length)};
  tensor_spec& view = p.tensors[from];
  view.strides[0] = -2;
  view.offset = 8 * (bound - 1);
  view.terms.push_back(format::Term(8, offset_number, 0, no_length, no_length));
  view.terms.push_back(format::Term(-8, offset_number, no_length, no_length, no_length));
  p.add_step(format::Operator::Copy, {from}, y, "turn");
  p.lengths = {{"rows", 1, bound}};
  return p;
}

enum counted_step : std::size_t { count_step, square_step, total_step };

/// The number of the elements of "x" that are squared, and added up, is itself an input: cast to an integer, it is a
/// length of 0 to 6.
inline plan_spec make_counted() {
  constexpr std::uint32_t end = 3;
  constexpr std::int32_t bound = 6;
  plan_spec p;
  const std::uint32_t number = p.add_input("number", {1}, end), x = p.add_input("x", {bound, 2}, end),
                      count = p.add_output("count", {1}, count_step, end, format::DataType::int64),
                      y = p.add_output("y", {bound, 2}, square_step, end),
                      sum = p.add_output("sum", {1, 2}, total_step, end),
                      part = p.add_tensor("part", {bound, 2}, p.tensors[x].buffer);
  for (const std::uint32_t t : {part, y}) p.tensors[t].terms = {format::Term(1, 0, 0, no_length, no_length)};
  p.add_step(format::Operator::Cast, {number}, count, "count");
  step_spec& square = p.add_step(format::Operator::Unary, {part}, y, "square");
  square.epilogue.function = format::Function::square;
  square.tile = {1, 0, 0};
  p.add_step(format::Operator::Reduce, {y}, sum, "sum").reduce = format::ReduceKind::sum;
  p.lengths = {{"count", 0, bound}};
  p.lengths[0].counted = count + 1;
  return p;
}

}
