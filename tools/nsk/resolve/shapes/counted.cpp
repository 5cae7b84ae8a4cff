// SPDX-License-Identifier: MIT
#include "resolve/shapes/counted.hpp"

#include <vector>

#include "errors.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {
namespace {

/// A result with a row for each choice, and its axis.
struct chosen_result {
  std::size_t output;
  std::int64_t axis;
};

std::vector<chosen_result> results_of(const node& n) {
  const std::int64_t along = n.integer("axis", 0);
  if (n.op == "NonZero") return {{0, 1}};
  if (n.op == "Compress") return {{0, along}};
  if (n.op == "Unique") return {{0, along}, {1, 0}, {3, 0}};
  return {{0, 0}};
}

}

/// The rows that are read of what `n` chooses. A number that is new becomes a length and an output.
std::int64_t counted_rows::rows_of(const node& n, const row_limits& limits) {
  const auto [known, is_new] = m_lengths.emplace(m_same.count_of(n), m_placer.at(n.outputs[0]).name + ".count");
  const std::string name = known->second;
  const auto given = m_values.find(name);
  const std::int64_t rows = given == m_values.end() ? limits.maximum : given->second;
  if (rows < limits.minimum || rows > limits.maximum) throw impossible_count(name, limits.maximum);
  if (is_new) m_graph.counted.push_back({name, limits.minimum, limits.maximum});
  return rows;
}

void counted_rows::take(node& n, const row_limits& limits) {
  if (!n.has(reference::suppression_bound)) return;  // inference says what is wrong
  if (!n.gives(0)) n.outputs[0] = m_placer.new_value(n, "results");
  const std::size_t before = m_graph.counted.size();
  const std::int64_t rows = rows_of(n, limits);
  n.attributes[reference::suppression_bound] = n.integer(reference::suppression_bound, 0) + 1;
  std::vector<node> behind;
  for (const auto& [output, axis] : results_of(n)) {
    if (!n.gives(output)) continue;
    const value_id read = n.outputs[output];
    n.outputs[output] = m_placer.new_value(n, "all" + std::to_string(output));
    const auto list = [&](const char* suffix, std::int64_t number) {
      return m_placer.new_constant(n, suffix + std::to_string(output), make_ints({1}, {number}));
    };
    behind.push_back(node_placer::helper(n, "Slice", "rows" + std::to_string(output),
                                         {n.outputs[output], list("begin", 0), list("end", rows), list("axis", axis)},
                                         read, {}, 13));
  }
  if (m_graph.counted.size() != before) {
    const value_id count = m_placer.new_value(n, "length");
    m_placer.at(count).name = m_graph.counted.back().name;
    m_graph.outputs.push_back(count);
    node length = node_of("Length", n.name + "/length", {n.outputs[0]}, count, 1);
    length.domain = "nsk";
    length.attributes["axis"] = results_of(n)[0].axis;
    behind.push_back(std::move(length));
  }
  m_placer.place(std::move(behind));  // the number comes before what follows it
}

}
