// SPDX-License-Identifier: MIT
#include "report/row_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "errors.hpp"
#include "reference/evaluator.hpp"
#include "report/random_inputs.hpp"
#include "report/text.hpp"

namespace nsk::tool {
namespace {

constexpr double tolerance = 1e-9;  // of the largest magnitude: both sides are in double precision

const value& named(const graph& g, const std::string& name) { return g.values[static_cast<std::size_t>(g.find(name))]; }

/// The axis along which `several` has `rows` times the length of `one`, where it is the only difference; -1 otherwise.
int row_axis(const shape_t& one, const shape_t& several, std::int64_t rows) {
  int axis = -1;
  if (one.size() != several.size()) return -1;
  for (std::size_t d = 0; d < one.size(); ++d) {
    if (one[d] == several[d]) continue;
    if (axis >= 0 || several[d] != one[d] * rows) return -1;
    axis = static_cast<int>(d);
  }
  return axis;
}

/// Part `row` of the elements along an axis, which has `rows` of them.
array part_of(const array& a, int axis, std::int64_t rows, std::int64_t row) {
  shape_t shape = a.shape;
  shape[static_cast<std::size_t>(axis)] /= rows;
  array result(a.type, shape);
  std::size_t block = size_of(a.type);
  for (std::size_t d = static_cast<std::size_t>(axis); d < shape.size(); ++d)
    block *= static_cast<std::size_t>(shape[d]);
  for (std::size_t i = 0; i * block < result.data.size(); ++i)
    std::memcpy(&result.data[i * block],
                &a.data[(i * static_cast<std::size_t>(rows) + static_cast<std::size_t>(row)) * block], block);
  return result;
}

/// How many rows the inputs of `g` have; 0 where they do not differ from `exported` by that alone.
std::int64_t rows_of(const graph& exported, const graph& g) {
  std::int64_t rows = 0;
  for (const value_id v : g.inputs) {
    const shape_t& several = g.values[static_cast<std::size_t>(v)].shape;
    const shape_t& one = named(exported, g.values[static_cast<std::size_t>(v)].name).shape;
    if (one == several) continue;
    if (one.empty() || one[0] != 1 || several[0] < 2 || (rows != 0 && rows != several[0])) return 0;
    rows = several[0];
    if (row_axis(one, several, rows) != 0) return 0;
  }
  return rows;
}

/// Largest difference, as a share of the largest magnitude; infinite where one is no number and the other is.
double difference(const array& a, const array& b) {
  double worst = 0, largest = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = a.number(i), y = b.number(i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) {
      largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : largest;
      continue;
    }
    if (!std::isfinite(x) || !std::isfinite(y)) return HUGE_VAL;
    worst = std::max(worst, std::abs(x - y));
    largest = std::max({largest, std::abs(x), std::abs(y)});
  }
  return largest > 0 ? worst / largest : worst;
}

[[noreturn]] void refuse_rows(std::int64_t rows, const std::string& name, const std::string& why) {
  refuse(
      "--input: with " + std::to_string(rows) + " rows, output '" + name + "' " + why +
      ". The model mixes its rows, or has their number where it cannot be rewritten. Convert it for one row and run " +
      "it for each, leave this output out with --output-value, or export it with an open first axis");
}

}

std::string compare_rows(const graph& exported, const graph& g, const model& m, int variant, std::uint64_t seed) {
  const std::int64_t rows = rows_of(exported, g);
  if (rows == 0) return "";
  for (const value_id v : g.outputs) {
    const value& made = g.values[static_cast<std::size_t>(v)];
    const shape_t& one = named(exported, made.name).shape;
    if (row_axis(one, made.shape, rows) < 0)
      refuse_rows(rows, made.name, "has the shape " + to_string(made.shape) + ", and for one row " + to_string(one));
  }
  const std::map<std::string, array> inputs = random_inputs(g, m, seed, variant);
  const std::map<std::string, array> all = evaluator(g).run(inputs);
  for (const std::int64_t row : std::set<std::int64_t>{0, rows / 2, rows - 1}) {
    std::map<std::string, array> single;
    for (const auto& [name, a] : inputs) {
      const bool has_rows = named(exported, name).shape != a.shape;
      single.emplace(name, has_rows ? part_of(a, 0, rows, row) : a);
    }
    for (const auto& [name, alone] : evaluator(exported).run(single)) {
      const array& several = all.at(name);
      const double off = difference(alone, part_of(several, row_axis(alone.shape, several.shape, rows), rows, row));
      if (off > tolerance)
        refuse_rows(rows, name,
                    "has in row " + std::to_string(row) + " not what the model gives for that row alone: " +
                        format_text("it is off by %.1e of the largest magnitude", off));
    }
  }
  return std::to_string(rows) + " rows, each what the model as it was exported gives for it alone";
}

}
