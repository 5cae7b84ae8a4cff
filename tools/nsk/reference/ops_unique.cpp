// SPDX-License-Identifier: MIT
/// Unique: which elements, or slices along an axis, there are, each once.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

/// The slices of each group of equal ones, the first one first.
using groups = std::vector<std::vector<i64>>;

/// Elements before the axis, slices along it, elements behind it.
shape_t lines_of(const call& c) {
  const shape_t& x = c.shape(0);
  if (!c.op().has("axis")) return {1, count_of(x), 1};
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  return {count_between(x, 0, axis), x[axis], count_between(x, axis + 1, x.size())};
}

/// -1, 0 or 1; what is no number is behind all numbers, and equal to its like.
template <class T>
int compared(T a, T b) {
  if (a < b) return -1;
  if (b < a) return 1;
  return static_cast<int>(a != a) - static_cast<int>(b != b);
}

groups groups_of(const call& c) {
  const shape_t lines = lines_of(c);
  std::vector<i64> order(static_cast<std::size_t>(lines[1]));
  std::iota(order.begin(), order.end(), 0);
  groups found;
  by_type(c.data(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    const T* x = c.data(0).as<T>();
    const auto compare = [&](i64 a, i64 b) {
      for (i64 o = 0; o < lines[0]; ++o)
        for (i64 i = 0; i < lines[2]; ++i)
          if (const int s = compared(x[(o * lines[1] + a) * lines[2] + i], x[(o * lines[1] + b) * lines[2] + i]);
              s != 0)
            return s;
      return 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return compare(a, b) < 0; });
    for (const i64 line : order) {
      if (found.empty() || compare(found.back()[0], line) != 0) found.emplace_back();
      found.back().push_back(line);
    }
  });
  if (c.op().integer("sorted", 1) == 0) std::sort(found.begin(), found.end());
  return found;
}

void infer_unique(call& c) {
  c.require_inputs(1, 1);
  const shape_t lines = lines_of(c);
  const bool bounded = c.op().has(suppression_bound) && !knows_all(c);
  const i64 count = bounded ? c.op().integer(suppression_bound, 0) : static_cast<i64>(groups_of(c).size());
  shape_t y = {count};
  if (c.op().has("axis")) {
    y = c.shape(0);
    y[c.axis(c.op().integer("axis", 0), c.rank(0))] = count;
  }
  c.declare(0, c.type(0), y);
  c.declare(1, element::i64, {count});
  c.declare(2, element::i64, {lines[1]});
  c.declare(3, element::i64, {count});
}

void evaluate_unique(call& c) {
  const shape_t lines = lines_of(c);
  const groups found = groups_of(c);
  const i64 rows = static_cast<i64>(found.size());
  for (i64 g = 0; g < rows; ++g) {
    const std::vector<i64>& members = found[static_cast<std::size_t>(g)];
    for (i64 o = 0; c.wants(0) && o < lines[0]; ++o)
      copy_elements(c.data(0), (o * lines[1] + members[0]) * lines[2], c.out(0), (o * rows + g) * lines[2], lines[2]);
    if (c.wants(1)) c.out_integers(1)[g] = members[0];
    if (c.wants(3)) c.out_integers(3)[g] = static_cast<i64>(members.size());
    for (const i64 line : members)
      if (c.wants(2)) c.out_integers(2)[line] = g;
  }
}

double work_of_unique(call& c) { return 8 * as_work(count_of(c.shape(0))) * std::log2(as_work(lines_of(c)[1]) + 2); }

}

void add_unique(table& t) { t["Unique"] = {infer_unique, evaluate_unique, 11, work_of_unique}; }

}
