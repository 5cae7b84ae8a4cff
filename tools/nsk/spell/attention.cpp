// SPDX-License-Identifier: MIT
/// Attention, of ONNX and of ONNX Runtime (onnx/docs/Operators.md, onnxruntime/docs/ContribOperators.md).
#include <cmath>
#include <limits>

#include "graph/onnx_type.hpp"
#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// The heads of an attention and what is made of them: softmax(scale * Q K^T + bias) V.
struct heads {
  value_id query = no_value, key = no_value, value = no_value;  ///< [batch, heads, length, size]
  std::int64_t batch = 0, rows = 0, columns = 0;                ///< rows: queries; columns: keys, the past included
  std::int64_t count = 0, shared = 0;                           ///< heads of queries, and of keys and values
  std::int64_t size = 0, value_size = 0;
  bool joins_heads = false;       ///< the result is [batch, rows, heads * size]
  double scale = 0, softcap = 0;  ///< 0: 1 / sqrt(size), and none
  std::vector<value_id> bias;     ///< each broadcast to the scores
  bool may_see_nothing = false;   ///< a query may see no key: its result is 0
  std::int64_t told_scores = 0;   ///< which scores the last output is: 0 raw, 1 capped, 2 with bias, 3 probabilities
};

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
                 nothing = s.add("Equal", {largest, s.number(minus_infinity, element::f32)});
  return s.add("Where", {nothing, s.number(0, element::f32), made});
}

/// `x` of shape [batch, length, heads * size] as [batch, heads, length, size].
value_id split_heads(speller& s, value_id x, const shape_t& shape, std::int64_t count) {
  if (count < 1 || shape.size() != 3 || shape[2] % count != 0)
    s.refuse("its number of heads is missing, or does not divide the last axis " + to_string(shape));
  const value_id apart = s.add("Reshape", {x, s.integers({shape[0], shape[1], count, shape[2] / count})});
  return s.add("Transpose", {apart}, {{"perm", heads_first}});
}

/// Heads of the inputs 0 to 2, of three axes, or of four. `bias`, [queries' size + keys' size + values' size], is added
/// to inputs of three axes.
heads heads_of(speller& s, std::pair<std::int64_t, std::int64_t> counts, value_id bias = no_value) {
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

/// Puts `length` earlier keys and values in front of those of `h`.
void join_past(speller& s, heads& h, value_id key, value_id value, std::int64_t length) {
  h.key = s.add("Concat", {key, h.key}, {{"axis", std::int64_t{2}}});
  h.value = s.add("Concat", {value, h.value}, {{"axis", std::int64_t{2}}});
  h.columns += length;
}

/// Gives output 0 and, where it is wanted, the scores as output `scores`.
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

/// What of the rows and columns of scores may be seen.
struct visibility {
  std::int64_t rows, columns, before;  ///< keys that precede the first query
  std::int64_t left = -1, right = -1;  ///< how far a query sees; -1 where that has no end
  bool is_everything() const { return left < 0 && right < 0; }
};

/// 0 where a query sees a key, else `hidden`: [rows, columns].
value_id constant_bias(speller& s, const visibility& v, double hidden) {
  array bias = s.make(element::f32, {v.rows, v.columns});
  for (std::int64_t i = 0; i < v.rows; ++i)
    for (std::int64_t j = 0; j < v.columns; ++j) {
      const std::int64_t ahead = j - i - v.before;
      if ((v.left >= 0 && -ahead > v.left) || (v.right >= 0 && ahead > v.right)) bias.set(i * v.columns + j, hidden);
    }
  return s.keep(std::move(bias));
}

/// constant_bias() where `before`, [batch, 1, 1, 1] and int64, is data.
value_id computed_bias(speller& s, const visibility& v, value_id before, double hidden) {
  array distance = s.make(element::i64, {1, 1, v.rows, v.columns});
  for (std::int64_t i = 0; i < distance.count(); ++i) distance.set_integer(i, i % v.columns - i / v.columns);
  const value_id ahead = s.add("Sub", {s.keep(std::move(distance)), before});
  value_id sees = no_value;
  const auto limit = [&](const char* op, std::int64_t reach) {
    const value_id inside = s.add(op, {ahead, s.number(static_cast<double>(reach), element::i64)});
    sees = sees == no_value ? inside : s.add("And", {sees, inside});
  };
  if (v.right >= 0) limit("LessOrEqual", v.right);
  if (v.left >= 0) limit("GreaterOrEqual", -v.left);
  return s.add("Where", {sees, s.number(0, element::f32), s.number(hidden, element::f32)});
}

/// Input `i`, a mask, as what is added to scores of `columns`: behind its own columns nothing is seen.
value_id mask_bias(speller& s, std::size_t i, std::int64_t columns) {
  value_id mask = s.in(i);
  const shape_t shape = s.shape(i);
  if (shape.empty() || shape.back() > columns) s.refuse("its mask has more columns than there are keys");
  if (s.type(i) == element::boolean)
    mask = s.add("Where", {mask, s.number(0, element::f32), s.number(minus_infinity, element::f32)});
  if (shape.back() == columns || shape.back() == 1) return mask;
  std::vector<std::int64_t> pads(2 * shape.size(), 0);
  pads.back() = columns - shape.back();
  return s.add("Pad", {mask, s.integers(pads), s.number(minus_infinity, element::f32)});
}

/// Attention of ONNX, opset 23 and newer.
void attention(speller& s) {
  heads h = heads_of(s, {s.op().integer("q_num_heads", 0), s.op().integer("kv_num_heads", 0)});
  if (s.has(4) != s.has(5) || (s.has(4) && s.has(6)))
    s.refuse("it needs both of past_key and past_value, or none, and then no nonpad_kv_seqlen");
  const std::int64_t past = s.has(4) ? s.length(4, 2) : 0;
  if (s.has(4)) join_past(s, h, s.in(4), s.in(5), past);
  s.give(1, "Identity", {h.key});
  s.give(2, "Identity", {h.value});
  h.scale = s.op().number("scale", 0);
  h.softcap = s.op().number("softcap", 0);
  visibility v = {h.rows, h.columns, past, s.op().integer("left_window_size", -1),
                  s.op().integer("right_window_size", -1)};
  if (s.op().integer("is_causal", 0) != 0) v.right = 0;
  if (s.has(6)) {
    const value_id lengths = s.add(
        "Reshape", {s.add("Cast", {s.in(6)}, {{"to", number_of(onnx_type::int64)}}), s.integers({h.batch, 1, 1, 1})});
    const visibility keys = {1, h.columns, 0, -1, 0};  // key j where j <= length - 1
    h.bias.push_back(computed_bias(s, keys, s.add("Sub", {lengths, s.number(1, element::i64)}), minus_infinity));
    if (!v.is_everything())
      h.bias.push_back(computed_bias(s, v, s.add("Sub", {lengths, s.number(static_cast<double>(h.rows), element::i64)}),
                                     minus_infinity));
  } else if (!v.is_everything()) {
    h.bias.push_back(constant_bias(s, v, minus_infinity));
  }
  if (s.has(3)) h.bias.push_back(mask_bias(s, 3, h.columns));
  h.may_see_nothing = s.has(3) || s.has(6) || v.left >= 0;
  h.told_scores = s.op().integer("qk_matmul_output_mode", 0);
  attend(s, h, 3);
}

/// The bias of ONNX Runtime's masks, `filter` where a key is hidden: lengths of rows, or zeros and ones.
value_id padding_bias(speller& s, std::size_t i, const heads& h, float filter) {
  const shape_t mask = s.shape(i);
  const value_id wide = s.add("Cast", {s.in(i)}, {{"to", number_of(onnx_type::int64)}});
  if (mask == shape_t{h.batch}) {
    const value_id lengths = s.add("Reshape", {wide, s.integers({h.batch, 1, 1, 1})});
    return computed_bias(s, {1, h.columns, 0, -1, 0}, s.add("Sub", {lengths, s.number(1, element::i64)}), filter);
  }
  shape_t shape;
  if (mask == shape_t{h.batch, h.columns}) shape = {h.batch, 1, 1, h.columns};
  if (mask == shape_t{h.batch, h.rows, h.columns}) shape = {h.batch, 1, h.rows, h.columns};
  if (shape.empty())
    s.refuse(
        "its mask must have one number per row of the batch and key, or the lengths of the rows. Save the model "
        "before ONNX Runtime has optimised it (graph_optimization_level)");
  const value_id hidden = s.add("Equal", {s.add("Reshape", {wide, s.integers(shape)}), s.number(0, element::i64)});
  return s.add("Where", {hidden, s.number(filter, element::f32), s.number(0, element::f32)});
}

/// What both attentions of ONNX Runtime add to scores.
void add_biases(speller& s, heads& h, std::size_t padding, std::size_t bias, std::int64_t past) {
  if (s.has(padding)) h.bias.push_back(padding_bias(s, padding, h, s.op().number("mask_filter_value", -10000)));
  if (s.op().integer("unidirectional", 0) != 0) {
    const visibility v = {h.rows, h.columns, past, -1, 0};
    h.bias.push_back(constant_bias(s, v, minus_infinity));
  }
  if (s.has(bias)) h.bias.push_back(s.in(bias));
  h.scale = s.op().number("scale", 0);
}

/// Attention of ONNX Runtime, whose projections are one product.
void projected_attention(speller& s) {
  const std::int64_t count = s.op().integer("num_heads", 0);
  if (s.op().integer("do_rotary", 0) != 0 || s.has(6) || s.shape(0).size() != 3 || s.shape(1).size() != 2)
    s.refuse("rotations and caches that share their memory are not supported");
  const std::int64_t all = s.shape(1)[1];
  std::vector<std::int64_t> sizes = s.op().integers("qkv_hidden_sizes", {all / 3, all / 3, all / 3});
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != all) s.refuse("its weights have another size than heads");
  value_id product = s.add("MatMul", {s.in(0), s.in(1)});
  if (s.has(2)) product = s.add("Add", {product, s.in(2)});
  const std::vector<value_id> parts =
      s.add_several("Split", {product, s.integers(sizes)}, 3, {{"axis", std::int64_t{2}}});
  heads h;
  h.batch = s.shape(0)[0];
  h.rows = h.columns = s.shape(0)[1];
  h.query = split_heads(s, parts[0], {h.batch, h.rows, sizes[0]}, count);
  h.key = split_heads(s, parts[1], {h.batch, h.rows, sizes[1]}, count);
  h.value = split_heads(s, parts[2], {h.batch, h.rows, sizes[2]}, count);
  h.count = h.shared = count;
  h.size = sizes[0] / count;
  h.value_size = sizes[2] / count;
  h.joins_heads = true;
  std::int64_t past = 0;
  if (s.has(4)) {
    past = s.length(4, 3);
    const value_id axes = s.integers({0});
    const std::vector<value_id> old =
        s.add_several("Split", {s.in(4)}, 2, {{"axis", std::int64_t{0}}, {"num_outputs", std::int64_t{2}}});
    join_past(s, h, s.add("Squeeze", {old[0], axes}), s.add("Squeeze", {old[1], axes}), past);
  }
  if (s.wants(1)) {
    const value_id axes = s.integers({0});
    s.give(1, "Concat", {s.add("Unsqueeze", {h.key, axes}), s.add("Unsqueeze", {h.value, axes})},
           {{"axis", std::int64_t{0}}});
  }
  add_biases(s, h, 3, 5, past);
  attend(s, h, 99);
}

/// MultiHeadAttention of ONNX Runtime, whose projections are made before.
void multi_head_attention(speller& s) {
  const std::int64_t count = s.op().integer("num_heads", 0);
  if (s.has(8) || s.has(9) || s.shape(0).size() != 3 || !s.has(1) || !s.has(2))
    s.refuse(
        "packed queries, and caches that share their memory, are not supported. Save the model before ONNX "
        "Runtime has optimised it (graph_optimization_level)");
  heads h = heads_of(s, {count, count}, s.maybe(3));
  const std::int64_t past = s.has(6) ? s.length(6, 2) : 0;
  if (s.has(6)) join_past(s, h, s.in(6), s.in(7), past);
  s.give(1, "Identity", {h.key});
  s.give(2, "Identity", {h.value});
  add_biases(s, h, 4, 5, past);
  attend(s, h, 99);
}

}

void add_attention_spellings(spelling_table& t) {
  t["Attention"] = attention;
  t["com.microsoft.Attention"] = projected_attention;
  t["com.microsoft.MultiHeadAttention"] = multi_head_attention;
}

}
