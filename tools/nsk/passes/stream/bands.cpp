// SPDX-License-Identifier: MIT
#include "passes/stream/bands.hpp"

#include <algorithm>

namespace nsk::tool {
namespace {

std::int64_t rows_of(const program& p, int v) { return p.shape(v)[2]; }

/// Notes that `reads` of a value are read, in a band in which nothing else may have been read yet.
void widen(row_range& needed, row_range reads) {
  if (needed.count() == 0) needed = reads;
  needed.first = std::min(needed.first, reads.first);
  needed.end = std::max(needed.end, reads.end);
}

}

std::vector<band> bands_of(const program& p, operation_run run, std::int64_t rows) {
  std::map<int, std::int64_t> done;  // rows of each value that are computed
  for (std::size_t i = run.first; i < run.end; ++i) done[p.operations[i].output] = 0;
  const int result = p.operations[run.end - 1].output;
  std::vector<band> bands;
  while (done[result] < rows_of(p, result)) {
    std::map<int, row_range> needed;
    needed[result] = {done[result], std::min(rows_of(p, result), done[result] + rows)};
    band b;
    for (std::size_t i = run.end; i-- > run.first;) {
      const operation& o = p.operations[i];
      const std::int64_t unit = row_unit(o), before = done[o.output];
      const row_range wanted = needed[o.output];
      const std::int64_t end = std::min(rows_of(p, o.output), (wanted.end + unit - 1) / unit * unit);
      const row_range added = {before, std::max(before, end)};
      b[o.output] = {added, {std::min(wanted.first, before), added.end}};
      if (wanted.count() == 0) b[o.output].window = {before, before};
      if (added.count() == 0) continue;
      for (const int v : operands_of(p, o))
        if (done.count(v) != 0 && is_read_by_rows(p, o, v)) widen(needed[v], rows_read(p, o, v, added));
    }
    for (auto& [v, r] : b) done[v] = r.added.end;
    bands.push_back(std::move(b));
  }
  return bands;
}

}
