// SPDX-License-Identifier: MIT
#include "passes/stream/stream.hpp"

#include <algorithm>
#include "passes/stream/bands.hpp"
#include "passes/stream/cost.hpp"
#include "passes/stream/rewrite.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_run = 24;
constexpr std::int64_t band_heights[] = {1, 2, 4, 8, 16, 32, 64};

struct chosen_run {
  operation_run run;
  band_cost bands;
};

/// The cheapest bands of a run.
band_cost cheapest_bands(const program& p, const stream_costs& costs, operation_run r) {
  band_cost best;
  const operation& last = p.operations[r.end - 1];
  const std::int64_t whole = p.shape(last.output)[2], unit = row_unit(last);
  for (const std::int64_t rows : band_heights) {
    if (2 * rows > whole) break;
    if (rows < unit) continue;
    const band_cost c = costs.in_bands(r, rows);
    if (c.cost < best.cost) best = c;
  }
  return best;
}

/// The cheapest partition of a program into single operations and runs in bands; the runs, in order.
std::vector<chosen_run> choose_runs(const program& p, const stream_costs& costs) {
  const std::size_t count = p.operations.size();
  std::vector<bool> by_rows(count);
  for (std::size_t i = 0; i < count; ++i) by_rows[i] = works_by_rows(p, p.operations[i]);
  std::vector<double> cost(count + 1, 0);
  std::vector<chosen_run> last(count + 1);
  for (std::size_t end = 1; end <= count; ++end) {
    cost[end] = cost[end - 1] + costs.alone(end - 1);
    last[end].run = {end - 1, end};
    if (!by_rows[end - 1]) continue;
    for (std::size_t first = end - 1; first-- > 0 && end - first <= max_run && by_rows[first];) {
      const operation_run r = {first, end};
      if (!costs.can_stream(r)) continue;
      const band_cost c = cheapest_bands(p, costs, r);
      if (cost[first] + c.cost >= cost[end]) continue;
      cost[end] = cost[first] + c.cost;
      last[end] = {r, c};
    }
  }
  std::vector<chosen_run> runs;
  for (std::size_t end = count; end > 0; end = last[end].run.first)
    if (last[end].bands.rows > 0) runs.push_back(last[end]);
  std::reverse(runs.begin(), runs.end());
  return runs;
}

}

std::vector<streamed_run> stream(program& p, const stream_target& t) {
  const stream_costs costs(p, t);
  std::vector<streamed_run> made;
  std::vector<banded_run> banded;
  for (const chosen_run& c : choose_runs(p, costs)) {
    streamed_run s;
    s.first = p.operations[c.run.first].name;
    s.last = p.operations[c.run.end - 1].name;
    s.operations = static_cast<int>(c.run.count());
    s.bands = c.bands.bands;
    s.rows = c.bands.rows;
    s.window_bytes = c.bands.window_bytes;
    for (std::size_t i = c.run.first; i + 1 < c.run.end; ++i)
      s.whole_bytes += static_cast<std::int64_t>(costs.bytes_of(p.operations[i].output));
    made.push_back(std::move(s));
    banded.push_back({c.run, bands_of(p, c.run, c.bands.rows)});
  }
  put_into_bands(p, banded);
  return made;
}

}
