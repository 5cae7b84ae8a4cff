// SPDX-License-Identifier: MIT
#pragma once
/// What it costs to compute operations of a program one after the other, or in bands, beside the arithmetic.
#include <limits>
#include <vector>
#include "passes/stream/bands.hpp"
#include "passes/stream/stream.hpp"

namespace nsk::tool {

/// The cost of a run in bands of so many rows of its result.
struct band_cost {
  double cost = std::numeric_limits<double>::infinity();  ///< infinite where the run cannot be in bands
  std::int64_t rows = 0, window_bytes = 0;
  int bands = 0;
};

/// Costs, in bytes that are read from the last-level cache.
class stream_costs {
 public:
  stream_costs(const program& p, const stream_target& t);

  /// Operation `i` on whole values.
  double alone(std::size_t i) const;
  /// Whether a run can be in bands and has a value inside that the second-level cache does not hold.
  bool can_stream(operation_run r) const;
  /// A run that can, in bands of `rows` rows.
  band_cost in_bands(operation_run r, std::int64_t rows) const;

  double bytes_of(int v) const;

 private:
  struct band_sums;

  double row_bytes(int v) const;
  double price(const operation& o, double near, double far) const;
  double price_of_whole(const operation& o, int v) const;
  band_sums sums_of(const std::vector<band>& bands, int result) const;
  bool prefetches(const operation& o) const;
  bool is_inside(operation_run r, int v) const;
  bool reads_inside_alone(operation_run r, const operation& o) const;
  double outer_bytes(operation_run r, std::size_t i) const;
  double peak_alone(operation_run r) const;

  const program& m_p;
  const stream_target m_target;
  std::vector<std::size_t> m_producer, m_last_reader;  ///< by value
};

}
