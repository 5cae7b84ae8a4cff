// SPDX-License-Identifier: MIT
// The cut that costs least, against all cuts of small networks of costs.
#include <doctest/doctest.h>
#include <random>

#include "quantize/choose/min_cut.hpp"

using namespace nsk::tool;

namespace {

struct cost_network {
  int nodes;
  std::vector<double> first, second;
  struct edge {
    int from, to;
    double cost;
  };
  std::vector<edge> edges;

  double cost(const std::vector<bool>& on_first) const {
    double sum = 0;
    for (int i = 0; i < nodes; ++i) {
      const auto at = static_cast<std::size_t>(i);
      sum += on_first[at] ? first[at] : second[at];
    }
    for (const edge& e : edges)
      if (on_first[static_cast<std::size_t>(e.from)] && !on_first[static_cast<std::size_t>(e.to)]) sum += e.cost;
    return sum;
  }
};

cost_network random_network(std::mt19937& random) {
  const auto number = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  cost_network n{2 + number(7), {}, {}, {}};
  for (int i = 0; i < n.nodes; ++i) {
    n.first.push_back(number(8) == 0 ? min_cut::never : number(20));
    n.second.push_back(number(20));
  }
  for (int i = number(3 * n.nodes); i > 0; --i)
    n.edges.push_back({number(n.nodes), number(n.nodes), number(10) == 0 ? min_cut::never : number(15) + 0.5});
  return n;
}

}

TEST_CASE("min cut: costs as little as the best of all cuts") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const cost_network n = random_network(random);
    min_cut cut(n.nodes);
    for (int i = 0; i < n.nodes; ++i)
      cut.add_costs(i, n.first[static_cast<std::size_t>(i)], n.second[static_cast<std::size_t>(i)]);
    for (const auto& e : n.edges) cut.add_edge(e.from, e.to, e.cost);
    double best = min_cut::never;
    for (unsigned bits = 0; bits < 1u << n.nodes; ++bits) {
      std::vector<bool> sides;
      for (int i = 0; i < n.nodes; ++i) sides.push_back((bits >> i & 1) != 0);
      best = std::min(best, n.cost(sides));
    }
    const std::vector<bool> found = cut.first_side();
    REQUIRE(found.size() == static_cast<std::size_t>(n.nodes));
    CHECK(n.cost(found) == doctest::Approx(best));
  }
}

TEST_CASE("min cut: nodes that cost the same on either side are on the first") {
  min_cut cut(3);
  cut.add_costs(0, 5, 5);
  cut.add_costs(1, 0, 0);
  cut.add_costs(2, 1, 0);
  const std::vector<bool> found = cut.first_side();
  CHECK(found[0]);
  CHECK(found[1]);
  CHECK_FALSE(found[2]);
}
