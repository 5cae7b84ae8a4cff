// SPDX-License-Identifier: MIT
#include "spell/heads.hpp"

#include <cmath>
#include <limits>

namespace nsk::tool {
namespace {

const std::vector<std::int64_t> heads_first = {0, 2, 1, 3};

/// Keys or values for every head of the queries: each of the shared ones several times.
value_id spread(speller& s, value_id x, const heads& h, std::int64_t size) {
  if (h.count == h.shared) return x;
  const value_id wide = s.add("Unsqueeze", {x, s.integers({2})}),
                 repeated =
                     s.add("Expand", {wide, s.integers({h.batch, h.shared, h.count / h.shared, h.columns, size})});
  return s.add("Reshape", {repeated, s.integers({h.batch, h.count, h.columns, size})});
}

/// The softmax of scores with bias, zeros in rows that see nothing.
value_id probabilities(speller& s, const heads& h, value_id scores) {
  const value_id made = s.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  if (!h.may_see_nothing) return made;
  const value_id largest = s.add("ReduceMax", {scores, s.integers({-1})}),
                 nothing = s.add("Equal", {largest, s.number(-std::numeric_limits<double>::infinity(), element::f32)});
  return s.add("Where", {nothing, s.number(0, element::f32), made});
}

}

value_id split_heads(speller& s, value_id x, const shape_t& shape, std::int64_t count) {
  if (count < 1 || shape.size() != 3 || shape[2] % count != 0)
    s.refuse("its number of heads is missing, or does not divide the last axis " + to_string(shape));
  const value_id apart = s.add("Reshape", {x, s.integers({shape[0], shape[1], count, shape[2] / count})});
  return s.add("Transpose", {apart}, {{"perm", heads_first}});
}

heads heads_of(speller& s, std::pair<std::int64_t, std::int64_t> counts, value_id bias) {
  heads h;
  std::vector<value_id> biases(3, no_value);
  if (bias != no_value) {
    const auto width = [&](std::size_t i) {
      return s.shape(i).size() == 3 ? s.length(i, 2) : s.length(i, 1) * s.length(i, 3);
    };
    biases = s.add_several("Split", {bias, s.integers({width(0), width(1), width(2)})}, 3, {{"axis", std::int64_t{0}}});
  }
  const auto take = [&](std::size_t i, std::int64_t count, value_id& to) -> shape_t {
    const shape_t shape = s.shape(i);
    to = s.in(i);
    if (shape.size() == 4) return shape;
    if (shape.size() != 3) s.refuse("its inputs must have three or four axes");
    if (biases[i] != no_value) to = s.add("Add", {to, biases[i]});
    to = split_heads(s, to, shape, count);
    return {shape[0], count, shape[1], shape[2] / count};
  };
  const shape_t q = take(0, counts.first, h.query), k = take(1, counts.second, h.key),
                v = take(2, counts.second, h.value);
  h.joins_heads = s.shape(0).size() == 3;
  h.batch = q[0], h.count = q[1], h.rows = q[2], h.size = q[3];
  h.shared = k[1], h.columns = k[2], h.value_size = v[3];
  if (k[0] != h.batch || v[0] != h.batch || k[3] != h.size || v[1] != h.shared || v[2] != h.columns || h.shared < 1 ||
      h.count % h.shared != 0)
    s.refuse("its queries, keys and values do not fit each other");
  return h;
}

void join_past(speller& s, heads& h, value_id key, value_id value, std::int64_t length) {
  h.key = s.add("Concat", {key, h.key}, {{"axis", std::int64_t{2}}});
  h.value = s.add("Concat", {value, h.value}, {{"axis", std::int64_t{2}}});
  h.columns += length;
}

void attend(speller& s, const heads& h, std::size_t scores) {
  const double scale = h.scale != 0 ? h.scale : 1 / std::sqrt(static_cast<double>(h.size));
  const value_id query = s.add("Mul", {h.query, s.number(scale)}),
                 key = s.add("Transpose", {spread(s, h.key, h, h.size)},
                             {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  std::vector<value_id> stages = {s.add("MatMul", {query, key})};
  value_id x = stages[0];
  if (h.softcap != 0) {
    const value_id cap = s.number(h.softcap);
    x = s.add("Mul", {s.add("Tanh", {s.add("Div", {x, cap})}), cap});
  }
  stages.push_back(x);
  for (const value_id bias : h.bias) x = s.add("Add", {x, bias});
  stages.push_back(x);
  stages.push_back(probabilities(s, h, x));
  if (s.wants(scores)) {
    if (h.told_scores < 0 || h.told_scores > 3) s.refuse("its attribute qk_matmul_output_mode must be 0 to 3");
    s.give(scores, "Identity", {stages[static_cast<std::size_t>(h.told_scores)]});
  }
  const std::vector<value_id> factors = {stages.back(), spread(s, h.value, h, h.value_size)};
  if (!h.joins_heads) return s.give(0, "MatMul", factors);
  const value_id apart = s.add("Transpose", {s.add("MatMul", factors)}, {{"perm", heads_first}});
  s.give(0, "Reshape", {apart, s.integers({h.batch, h.rows, h.count * h.value_size})});
}

}
