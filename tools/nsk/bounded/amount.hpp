// SPDX-License-Identifier: MIT
#pragma once
/// Numbers that are known at run time only: how many results an operator chose, and what is computed from that.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace nsk::tool::bounded {

using i64 = std::int64_t;

/// times * count + plus. A number that is known at conversion has times 0.
struct amount {
  int count = -1;  ///< index into counts
  i64 times = 0, plus = 0;
  bool varies() const { return times != 0; }
  bool operator==(const amount& o) const {
    return times == o.times && plus == o.plus && (times == 0 || count == o.count);
  }
  bool operator!=(const amount& o) const { return !(*this == o); }
};

inline amount number(i64 n) { return {-1, 0, n}; }
/// All elements along each axis.
std::vector<amount> whole(const shape_t& shape);

/// Where a count comes from: an operator that chooses, an amount held between limits, or a sum of amounts.
struct count_origin {
  i64 minimum = 0, maximum = 0;
  value_id chosen = no_value;  ///< the first output of the operator
  std::vector<amount> terms;   ///< one: it is clamped to the limits; several: they are added up
};

/// All counts of a graph; equal ones have one index.
class counts {
 public:
  const count_origin& operator[](int index) const { return m_list[static_cast<std::size_t>(index)]; }
  /// The count of an operator that chooses at most `maximum`; operators with one `key` choose equally many.
  amount chosen(const std::string& key, i64 maximum, value_id output);
  /// min(max(a, low), high).
  amount clamped(const amount& a, i64 low, i64 high);
  amount sum(const std::vector<amount>& terms);
  /// What an amount is at least, and at most.
  i64 low(const amount& a) const;
  i64 high(const amount& a) const;

 private:
  amount known(const std::string& key, const count_origin& origin);

  std::vector<count_origin> m_list;
  std::map<std::string, int> m_keys;
};

/// a + sign * b, where the result has one count.
std::optional<amount> added(const amount& a, const amount& b, i64 sign);
std::optional<amount> product(const amount& a, const amount& b);
/// a / b, where it has no rest for any count.
std::optional<amount> quotient(const amount& a, i64 b);

}
