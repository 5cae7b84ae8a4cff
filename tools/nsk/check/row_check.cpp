// SPDX-License-Identifier: MIT
#include "check/row_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "errors.hpp"
#include "reference/evaluator.hpp"
#include "check/random_inputs.hpp"
#include "io/text.hpp"

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

/// Rows of the inputs, and the axis on which each of them has them.
struct input_rows {
  std::int64_t count = 0;
  std::map<std::string, int> axes;
};

/// How many rows the inputs of `g` have; none where they do not differ from `exported` by that alone.
input_rows rows_of(const graph& exported, const graph& g) {
  input_rows rows;
  for (const value_id v : g.inputs) {
    const value& input = g.values[static_cast<std::size_t>(v)];
    const shape_t& one = named(exported, input.name).shape;
    if (one == input.shape) continue;
    for (std::size_t d = 0; d < one.size() && d < input.shape.size(); ++d)
      if (one[d] == 1 && input.shape[d] > 1) rows.axes[input.name] = static_cast<int>(d), rows.count = input.shape[d];
    const auto axis = rows.axes.find(input.name);
    if (axis == rows.axes.end() || row_axis(one, input.shape, rows.count) != axis->second) return {};
  }
  return rows;
}

/// The name of a constant that has one element where a result has rows, and is broadcast along them; empty where there
/// is none. On a first axis that is usual; on another one the axis may be steps, of which each had an element of its
/// own.
std::string repeated_constant(const graph& exported, const graph& g) {
  for (const node& n : g.nodes) {
    if (n.outputs.empty() || n.outputs[0] == no_value || n.op == "LSTM" || n.op == "GRU" || n.op == "RNN") continue;
    const value& made = g.values[static_cast<std::size_t>(n.outputs[0])];
    const value_id old = exported.find(made.name);
    const shape_t& one = old == no_value ? made.shape : exported.values[static_cast<std::size_t>(old)].shape;
    for (const value_id v : n.inputs) {
      if (v == no_value || !g.values[static_cast<std::size_t>(v)].constant || one.size() != made.shape.size()) continue;
      const shape_t& c = g.values[static_cast<std::size_t>(v)].shape;
      for (std::size_t k = 1; k <= std::min(c.size(), one.size()); ++k)
        if (c[c.size() - k] == 1 && one[one.size() - k] == 1 && made.shape[one.size() - k] > 1 && count_of(c) > 1)
          return g.values[static_cast<std::size_t>(v)].name;
    }
  }
  return "";
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

/// Refuses output `name` of `g`.
[[noreturn]] void refuse_rows(const graph& g, std::int64_t rows, const std::string& name, const std::string& why) {
  std::string others;
  for (const value_id v : g.outputs)
    if (const std::string& other = g.values[static_cast<std::size_t>(v)].name; other != name)
      others += " --output-value " + other;
  refuse(
      "--input: with " + std::to_string(rows) + " rows, output '" + name + "' " + why +
      ". The model mixes its rows, or has their number where it cannot be rewritten. Convert it for one row and run " +
      "it for each, " + (others.empty() ? "" : "leave this output out (" + others.substr(1) + "), ") +
      "or export it with an open first axis");
}

}

bool has_other_rows(const graph& exported, const graph& g) { return rows_of(exported, g).count != 0; }

std::string compare_rows(const graph& exported, const graph& g, const model& m, int variant, std::uint64_t seed) {
  const input_rows of_inputs = rows_of(exported, g);
  const std::int64_t rows = of_inputs.count;
  if (rows == 0) return "";
  for (const auto& [name, axis] : of_inputs.axes)
    if (const std::string constant = axis == 0 ? "" : repeated_constant(exported, g); !constant.empty())
      refuse("--input: axis " + std::to_string(axis) + " of '" + name + "' is 1 long in the source, and constant '" +
             constant + "' has one element along it, which may be that of the first position. Export the model for " +
             "these lengths");
  for (const value_id v : g.outputs) {
    const value& made = g.values[static_cast<std::size_t>(v)];
    const shape_t& one = named(exported, made.name).shape;
    if (row_axis(one, made.shape, rows) < 0)
      refuse_rows(g, rows, made.name, "has the shape " + to_string(made.shape) + ", and for one row " + to_string(one));
  }
  const std::map<std::string, array> inputs = random_inputs(g, m, {seed}, variant);
  const std::map<std::string, array> all = evaluator(g).run(inputs);
  for (const std::int64_t row : std::set<std::int64_t>{0, rows / 2, rows - 1}) {
    std::map<std::string, array> single;
    for (const auto& [name, a] : inputs) {
      const auto axis = of_inputs.axes.find(name);
      single.emplace(name, axis != of_inputs.axes.end() ? part_of(a, axis->second, rows, row) : a);
    }
    for (const auto& [name, alone] : evaluator(exported).run(single)) {
      const array& several = all.at(name);
      if (row_axis(alone.shape, several.shape, rows) < 0)
        refuse_rows(g, rows, name, "has as many results as were found, in all rows together");
      const double off = difference(alone, part_of(several, row_axis(alone.shape, several.shape, rows), rows, row));
      if (off > tolerance)
        refuse_rows(g, rows, name,
                    "has in row " + std::to_string(row) + " not what the model gives for that row alone: " +
                        format_text("it is off by %.1e of the largest magnitude", off));
    }
  }
  return std::to_string(rows) + " rows, each what the model as it was exported gives for it alone";
}

}
