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

std::vector<int> min_cut::levels_of(int start, std::size_t backwards) const {
  std::vector<int> level(m_edges_of.size(), -1), reached = {start};
  level[static_cast<std::size_t>(start)] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto from = static_cast<std::size_t>(reached[i]);
    for (const int e : m_edges_of[from]) {
      const auto edge = static_cast<std::size_t>(e);
      int& to = level[static_cast<std::size_t>(m_edges[edge].to)];
      if (to >= 0 || m_edges[edge ^ backwards].left <= nothing) continue;
      to = level[from] + 1;
      reached.push_back(m_edges[edge].to);
    }
  }
  return level;
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
  // Dinic 1970: levels by breadth, then flows along them until none is left
  for (m_level = levels_of(source, 0); m_level[sink] >= 0; m_level = levels_of(source, 0)) {
    m_next.assign(m_edges_of.size(), 0);
    while (push(source, never) > nothing) {
    }
  }
  // what cannot reach the sink any more may be on the first side
  const std::vector<int> levels = levels_of(sink, 1);
  std::vector<bool> result;
  for (std::size_t i = 2; i < levels.size(); ++i) result.push_back(levels[i] < 0);
  return result;
}

}
