// SPDX-License-Identifier: MIT
#include "quantize/choose/min_cut.hpp"

#include <algorithm>

namespace nsk::tool {
namespace {

/// Flows below are rounding of sums.
constexpr double nothing = 1e-9;

}

void min_cut::connect(int from, int to, double capacity) {
  m_edges_of[static_cast<std::size_t>(from)].push_back(static_cast<int>(m_edges.size()));
  m_edges.push_back({to, capacity});
  m_edges_of[static_cast<std::size_t>(to)].push_back(static_cast<int>(m_edges.size()));
  m_edges.push_back({from, 0});
}

void min_cut::add_costs(int node, double on_first, double on_second) {
  connect(place(node), sink, on_first);
  connect(source, place(node), on_second);
}

/// Dinic 1970: levels by breadth, then flows along them until none is left.
bool min_cut::find_levels() {
  m_level.assign(m_edges_of.size(), -1);
  m_level[source] = 0;
  std::vector<int> reached = {source};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const int e : m_edges_of[static_cast<std::size_t>(reached[i])]) {
      const edge& to = m_edges[static_cast<std::size_t>(e)];
      int& level = m_level[static_cast<std::size_t>(to.to)];
      if (level >= 0 || to.left <= nothing) continue;
      level = m_level[static_cast<std::size_t>(reached[i])] + 1;
      reached.push_back(to.to);
    }
  return m_level[sink] >= 0;
}

double min_cut::push(int from, double flow) {
  if (from == sink) return flow;
  const auto at = static_cast<std::size_t>(from);
  for (; m_next[at] < m_edges_of[at].size(); ++m_next[at]) {
    const auto e = static_cast<std::size_t>(m_edges_of[at][m_next[at]]);
    const int to = m_edges[e].to;
    if (m_edges[e].left <= nothing || m_level[static_cast<std::size_t>(to)] != m_level[at] + 1) continue;
    const double pushed = push(to, std::min(flow, m_edges[e].left));
    if (pushed <= nothing) continue;
    m_edges[e].left -= pushed;
    m_edges[e ^ 1].left += pushed;
    return pushed;
  }
  return 0;
}

std::vector<bool> min_cut::first_side() {
  while (find_levels()) {
    m_next.assign(m_edges_of.size(), 0);
    while (push(source, never) > nothing) {
    }
  }
  // what cannot reach the sink any more may be on the first side
  std::vector<bool> reaches(m_edges_of.size(), false);
  reaches[sink] = true;
  std::vector<int> found = {sink};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const int e : m_edges_of[static_cast<std::size_t>(found[i])]) {
      const int from = m_edges[static_cast<std::size_t>(e)].to;
      if (reaches[static_cast<std::size_t>(from)] || m_edges[static_cast<std::size_t>(e ^ 1)].left <= nothing) continue;
      reaches[static_cast<std::size_t>(from)] = true;
      found.push_back(from);
    }
  std::vector<bool> result;
  for (std::size_t i = 2; i < reaches.size(); ++i) result.push_back(!reaches[i]);
  return result;
}

}
