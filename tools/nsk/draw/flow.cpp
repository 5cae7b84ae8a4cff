// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <set>

#include "draw/graph_layout.hpp"
#include "draw/graph_svg.hpp"

namespace nsk::tool {
namespace {

/// The bytes of a buffer between a view's first and last element, and where in a pixel they are.
struct extent {
  std::int64_t begin, end;
  std::int64_t period, phase,
      length;  ///< bytes of a pixel's stride, of the part's start in it, of the part; period 0: no such pattern

  bool overlaps(const extent& o) const {
    if (end <= o.begin || o.end <= begin) return false;
    const bool interleaved =
        period > 0 && period == o.period && phase + length <= period && o.phase + o.length <= period;
    return !interleaved || (phase < o.phase + o.length && o.phase < phase + length);
  }
  bool covers(const extent& o) const {
    const bool whole = period == 0 || length == period ||
                       (o.period == period && phase <= o.phase && phase + length >= o.phase + o.length);
    return whole && begin <= o.begin && end >= o.end;
  }
};

extent extent_of(const tensor_info& t) {
  const auto size = static_cast<std::int64_t>(size_of(t.type()));
  const auto shape = t.shape();
  const auto strides = t.strides();
  std::int64_t low = 0, high = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t reach = (shape[d] - 1) * strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const auto at = static_cast<std::int64_t>(t.offset());
  extent e{at + low * size, at + (high + 1) * size, 0, 0, 0};
  const std::size_t rank = shape.size();
  if (rank > 1 && strides[rank - 1] == 1 && strides[rank - 2] > 0) {
    e.period = strides[rank - 2] * size;
    e.phase = at % e.period;
    e.length = shape[rank - 1] * size;
  }
  return e;
}

struct written {
  int step;
  extent where;
};

}

std::vector<step_edge> flow_of(const variant_view& v) {
  std::map<int, std::vector<written>> writes;  // by buffer, oldest first
  std::vector<step_edge> edges;
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    std::set<int> sources;
    for (int k = 0; k < s.input_count(); ++k) {
      const tensor_info t = s.input(k);
      if (t.where() == storage::constant) continue;
      const extent wanted = extent_of(t);
      bool found = false;
      const auto& history = writes[t.buffer()];
      for (auto w = history.rbegin(); w != history.rend(); ++w) {
        if (!w->where.overlaps(wanted)) continue;
        sources.insert(w->step);
        found = true;
        if (w->where.covers(wanted)) break;
      }
      if (!found && t.where() == storage::input) sources.insert(-1 - t.port());
    }
    if (edges.size() + sources.size() > max_lines) refuse_to_draw();
    for (const int from : sources) edges.push_back({from, i});
    for (int k = 0; k < s.output_count(); ++k) writes[s.output(k).buffer()].push_back({i, extent_of(s.output(k))});
  }
  return edges;
}

}
