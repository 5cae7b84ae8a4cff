// SPDX-License-Identifier: MIT
#include "passes/stream/bands.hpp"

#include <algorithm>
#include <limits>

namespace nsk::tool {
namespace {

/// What the readers of a value need of it: rows up to `end`, and of those that are there the ones from `first` on.
struct needs {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), end = std::numeric_limits<std::int32_t>::min();
};

/// Walks over the bands of a run, from its end to its beginning in each of them.
class band_walk {
 public:
  band_walk(const program& p, operation_run run) : m_p(p), m_run(run) {
    for (std::size_t i = run.first; i < run.end; ++i) m_done[p.operations[i].output] = 0;
  }

  std::int64_t rows_of(int v) const { return m_p.shape(v)[2]; }
  int result() const { return m_p.operations[m_run.end - 1].output; }
  bool is_done() const { return m_done.at(result()) == rows_of(result()); }

  /// The band after which the result has the rows up to `end`. Less than 0 stands for rows above the image: what is
  /// needed of other values by then is computed, so that the first bands are no higher than the others.
  band next(std::int64_t end) const {
    std::map<int, needs> needed;
    needed[result()].end = end;
    band b;
    for (std::size_t i = m_run.end; i-- > m_run.first;) {
      const operation& o = m_p.operations[i];
      const std::int64_t before = m_done.at(o.output), all = rows_of(o.output), unit = row_unit(o);
      const needs wanted = needed[o.output];
      const std::int64_t wanted_end = std::min(all, round_up(wanted.end, unit));
      const row_range added = {before, std::max(before, wanted_end)};
      b[o.output] = {added, {std::min(wanted.first, before), added.end}};
      for (const int v : operands_of(m_p, o)) {
        if (m_done.count(v) == 0 || !is_read_by_rows(m_p, o, v)) continue;
        needs& of_v = needed[v];
        of_v.end = std::max(of_v.end, last_row_read(m_p, o, v, wanted_end) + 1);
        if (before < all) of_v.first = std::min(of_v.first, rows_read(m_p, o, v, {before, before + 1}).first);
      }
    }
    return b;
  }
  void take(const band& b) {
    for (const auto& [v, rows] : b) m_done[v] = rows.added.end;
  }

 private:
  static std::int64_t round_up(std::int64_t rows, std::int64_t unit) {
    return rows <= 0 ? -(-rows / unit * unit) : (rows + unit - 1) / unit * unit;
  }

  const program& m_p;
  operation_run m_run;
  std::map<int, std::int64_t> m_done;  ///< rows of each value that are computed
};

bool adds_rows(const band& b) {
  return std::any_of(b.begin(), b.end(), [](const auto& of) { return of.second.added.count() > 0; });
}

}

std::vector<band> bands_of(const program& p, operation_run run, std::int64_t rows) {
  band_walk walk(p, run);
  std::int64_t end = 0;
  while (adds_rows(walk.next(end))) end -= rows;
  std::vector<band> bands;
  while (!walk.is_done()) {
    end += rows;
    band b = walk.next(end);
    walk.take(b);
    if (adds_rows(b)) bands.push_back(std::move(b));
  }
  return bands;
}

}
