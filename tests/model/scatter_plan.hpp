// SPDX-License-Identifier: MIT
#pragma once
/// A plan that scatters rows of updates into data, twice.
#include "sample_plans.hpp"

namespace test {

/// Steps of make_scatter, in order.
enum scatter_step : std::size_t { scatter_sums, scatter_in_place };

/// x [4, 6, 8] plus updates [4, 9, 8] along axis 1 by one index for each of the 9, then elements of it replaced along
/// axis 2, in place.
inline plan_spec make_scatter(format::DataType type = format::DataType::float32,
                              format::ScatterKind kind = format::ScatterKind::add) {
  using format::DataType;
  using format::Operator;
  plan_spec p;
  const std::uint32_t end = 2;
  const std::uint32_t x = p.add_input("x", {4, 6, 8}, end, type),
                      updates = p.add_input("updates", {4, 9, 8}, end, type);
  const std::uint32_t rows =
      p.add_constant("rows", std::vector<std::int64_t>{0, 5, -1, 2, 2, 3, 9, -7, 1}, DataType::int64);
  const std::uint32_t columns = p.add_constant("columns", std::vector<std::int64_t>{7, 0, 3}, DataType::int64);
  const std::uint32_t y = p.add_output("y", {4, 6, 8}, 0, end, type);
  step_spec& sums = p.add_step(Operator::Scatter, {x, add_view(p, rows, {4, 9, 8}, {0, 1, 0}), updates}, y, "sums");
  sums.axis = 1;
  sums.scatter = kind;
  sums.tile = {2, 0, 0};
  step_spec& replaced =
      p.add_step(Operator::Scatter,
                 {y, add_view(p, columns, {4, 6, 3}, {0, 0, 1}), add_view(p, x, {4, 6, 3}, {48, 8, 1})}, y, "replaced");
  replaced.axis = 2;
  replaced.tile = {1, 3, 0};
  return p;
}

}
