// SPDX-License-Identifier: MIT
#include "check/axis_order.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace nsk::tool {
namespace {

/// Elements, spread over the tensor, on which every axis order is tried; then the best few orders on all elements, and
/// more of them where that takes no longer than so many elements: a tensor of few different numbers has a sample that
/// several orders explain.
constexpr std::int64_t probed_elements = 61;
constexpr std::int64_t probed_orders = 3, elements_of_more_orders = std::int64_t{1} << 24;
/// Right numbers with large errors are still this much nearer in their own order than in another.
constexpr double clearly = 1.5;

/// Whether a tensor of shape `stored` may hold `wanted` with its axes in this order: each of its dimensions is a
/// product of successive ones.
bool allows(const shape_t& stored, const shape_t& wanted, const std::vector<int>& order) {
  std::size_t next = 0;
  for (const std::int64_t dimension : stored) {
    std::int64_t product = 1;
    while (product < dimension && next < order.size()) product *= wanted[static_cast<std::size_t>(order[next++])];
    if (product != dimension) return false;
  }
  return std::all_of(order.begin() + static_cast<std::ptrdiff_t>(next), order.end(),
                     [&](int axis) { return wanted[static_cast<std::size_t>(axis)] == 1; });
}

/// How far an order is from explaining the engine's numbers; compared as a tuple.
struct order_rating {
  bool forbidden;               ///< by the shape of the engine's tensor
  std::int64_t not_finite = 0;  ///< differences that are no number
  double sum = 0;               ///< of all others
  std::vector<int> order;

  bool operator<(const order_rating& other) const {
    return std::tie(forbidden, not_finite, sum) < std::tie(other.forbidden, other.not_finite, other.sum);
  }
};

order_rating rated(const array& got, const array& wanted, const std::vector<int>& order) {
  const std::size_t rank = wanted.shape.size();
  order_rating result{!allows(got.shape, wanted.shape, order), 0, 0, order};
  std::vector<std::int64_t> stride(rank, 1);
  for (std::size_t d = rank - 1; d-- > 0;) stride[d] = stride[d + 1] * wanted.shape[d + 1];
  const std::int64_t count = got.count(), hop = std::max<std::int64_t>(1, count / probed_elements);
  for (std::int64_t i = 0; i < count; i += hop) {
    std::int64_t rest = i, at = 0;
    for (std::size_t d = rank; d-- > 0;) {
      const auto axis = static_cast<std::size_t>(order[d]);
      at += rest % wanted.shape[axis] * stride[axis];
      rest /= wanted.shape[axis];
    }
    const double d = difference(got.number(i), wanted.number(at), got.type);
    if (std::isfinite(d))
      result.sum += d;
    else
      ++result.not_finite;
  }
  return result;
}

/// Every axis order of `wanted`, those that the shape of `got` allows and that explain a sample of it best first.
/// Without a sample that any order explains, the orders of the source and then channels last go first.
std::vector<order_rating> likely_orders(const array& got, const array& wanted) {
  std::vector<int> order = same_order(wanted.shape.size());
  std::vector<order_rating> all = {rated(got, wanted, order)};
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  all.push_back(rated(got, wanted, order));
  std::sort(order.begin(), order.end());
  while (std::next_permutation(order.begin(), order.end())) all.push_back(rated(got, wanted, order));
  std::stable_sort(all.begin(), all.end());
  return all;
}

}

comparison measure_in_any_order(const array& got, const array& wanted, double operands, double tolerance,
                                std::vector<int>& order, std::int64_t sampled) {
  const std::size_t rank = wanted.shape.size();
  const std::vector<int> expected = order;
  order = same_order(rank);
  if (rank < 2 || rank > static_cast<std::size_t>(max_rank)) return measure(got, wanted, operands, sampled);
  const bool expects = expected.size() == rank && allows(got.shape, wanted.shape, expected);
  comparison as_expected;
  if (expects) {
    as_expected = measure(got, wanted, expected, operands, sampled);
    order = expected;
    if (as_expected.relative <= tolerance) return as_expected;
  }
  const std::vector<order_rating> orders = likely_orders(got, wanted);
  const std::int64_t more_orders = elements_of_more_orders / std::max<std::int64_t>(1, got.count());
  const auto few = static_cast<std::size_t>(probed_orders), many = static_cast<std::size_t>(more_orders);
  comparison best;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (i >= few && (i >= many || best.relative <= 10 * tolerance)) break;
    const comparison c = measure(got, wanted, orders[i].order, operands, sampled);
    const bool may_replace = orders[i].forbidden == orders[0].forbidden || c.relative <= tolerance;
    if (i > 0 && !(may_replace && c.mean_error < best.mean_error)) continue;
    best = c;
    order = orders[i].order;
    if (best.relative <= tolerance) return best;
  }
  if (!expects || best.mean_error * clearly < as_expected.mean_error) return best;
  order = expected;
  return as_expected;
}

axis_orders::axis_orders(const graph& g, const variant_view& v) : m_graph(g) {
  for (const node& n : g.nodes)
    for (const value_id id : n.outputs)
      if (id != no_value) m_producers[g.values[static_cast<std::size_t>(id)].name] = &n;
  for (int i = 0; i < v.input_count(); ++i) {
    const port_view port = v.input(i);
    const auto axes = port.source_axes();
    m_known[port.name()] = {axes.begin(), axes.end()};
  }
}

std::vector<int> axis_orders::expected(const std::string& name) const {
  const auto producer = m_producers.find(name);
  const value_id result = m_graph.find(name);
  if (producer == m_producers.end() || result == no_value || producer->second->op == "Transpose") return {};
  for (const value_id id : producer->second->inputs) {
    if (id == no_value) continue;
    const value& operand = m_graph.values[static_cast<std::size_t>(id)];
    const auto known = m_known.find(operand.name);
    if (known != m_known.end() && operand.shape == m_graph.values[static_cast<std::size_t>(result)].shape)
      return known->second;
  }
  return {};
}

}
