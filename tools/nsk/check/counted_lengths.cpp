// SPDX-License-Identifier: MIT
#include "check/counted_lengths.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "errors.hpp"
#include "reference/evaluator.hpp"

namespace nsk::tool {
namespace {

/// A number that an evaluation has found, and that the graph was not made for.
struct other_count {
  std::size_t length;
  std::int64_t value;
};

std::optional<std::size_t> find_counted(const std::vector<chosen_length>& lengths, const std::string& name) {
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i].counted && lengths[i].name == name) return i;
  return {};
}

/// Evaluates until a count differs from `values`; returns that one, nothing where all are met.
std::optional<other_count> first_other(const graph& g, const std::vector<chosen_length>& lengths,
                                       const length_choice& values, const std::map<std::string, array>& inputs) {
  try {
    static_cast<void>(evaluator(g).run(inputs, false, [&](const std::string& name, array& value) {
      const std::optional<std::size_t> i = find_counted(lengths, name);
      if (i && value.integer(0) != values[*i]) throw other_count{*i, value.integer(0)};
    }));
  } catch (const other_count& found) {
    return found;
  }
  return {};
}

/// Finds the counts of a network on its inputs.
void count(const graph_at& at, const std::vector<chosen_length>& lengths, counted_network& network) {
  for (;;) {  // each round meets one more count, in the order of the graph
    try {
      network.g = at(network.values);
      const std::optional<other_count> other = first_other(network.g, lengths, network.values, network.inputs);
      if (!other) return;
      const chosen_length& l = lengths[other->length];
      if (other->value < l.minimum || other->value > l.bound)
        throw undefined_result("'" + l.name + "' is " + std::to_string(other->value) + " on these inputs, and the " +
                               "model has a result from " + std::to_string(l.minimum) + " to " +
                               std::to_string(l.bound));
      network.values[other->length] = other->value;
    } catch (const impossible_count& e) {
      network.values[find_counted(lengths, e.name).value()] = e.maximum;
    }
  }
}

}

namespace {

/// The graph for some lengths, or, where steps cannot count so, for as many as they can.
graph largest_graph(const graph_at& at, const std::vector<chosen_length>& lengths, length_choice values) {
  for (;;) {
    try {
      return at(values);
    } catch (const impossible_count& e) {
      values[find_counted(lengths, e.name).value()] = e.maximum;
    }
  }
}

}

length_choice bounds_of_counted(const std::vector<chosen_length>& lengths, length_choice values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (lengths[i].counted) values[i] = lengths[i].bound;
  return values;
}

counted_network counted_on_random(const graph_at& at, const std::vector<chosen_length>& lengths,
                                  const length_choice& values, const model& m, int variant, random_choice random,
                                  const std::map<std::string, array>& given) {
  const length_choice largest = bounds_of_counted(lengths, values);
  const graph bounds = largest_graph(at, lengths, largest);
  for (;;) {
    counted_network network{{}, largest, random_inputs(bounds, m, random, variant)};
    for (const auto& [name, a] : given) network.inputs[name] = a;
    try {
      count(at, lengths, network);
      return network;
    } catch (const undefined_result&) {
      if (++random.attempt == max_counting_attempts || !given.empty()) throw;
    }
  }
}

}
