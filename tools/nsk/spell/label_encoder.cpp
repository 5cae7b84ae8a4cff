// SPDX-License-Identifier: MIT
/// LabelEncoder and CategoryMapper of ai.onnx.ml: keys become values, and what is no key a default.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

using i64 = std::int64_t;

/// A list of one type of numbers.
struct number_list {
  bool real = false;
  std::vector<float> floats;
  std::vector<i64> integers;

  std::size_t size() const { return real ? floats.size() : integers.size(); }
  bool same(std::size_t a, std::size_t b) const {
    if (!real) return integers[a] == integers[b];
    return floats[a] == floats[b] || (std::isnan(floats[a]) && std::isnan(floats[b]));
  }
};

/// What attributes `stem`_int64s, `stem`_floats or `stem`_tensor hold.
number_list list_of(const speller& s, const std::string& stem) {
  number_list list;
  if (!texts_of(s, stem + "_strings").empty())
    s.refuse(
        "it maps strings, and its input holds none of the model's own. Encode strings in the game, and pass their "
        "positions");
  list.integers = s.op().integers(stem + "_int64s");
  list.floats = numbers_of(s, stem + "_floats");
  list.real = !list.floats.empty();
  if (!s.op().has(stem + "_tensor")) return list;
  const array& a = *tensor_of(s, stem + "_tensor");
  list.real = is_float(a.type);
  for (i64 i = 0; i < a.count(); ++i)
    if (list.real)
      list.floats.push_back(static_cast<float>(a.number(i)));
    else
      list.integers.push_back(a.integer(i));
  return list;
}

void add_default(const speller& s, number_list& values) {
  const bool given = s.op().has("default_tensor");
  const array* held = given ? tensor_of(s, "default_tensor") : nullptr;
  if (given && (held->count() != 1 || is_float(held->type) != values.real))
    s.refuse("default_tensor needs one number of the type of its values");
  if (values.real)
    values.floats.push_back(given ? static_cast<float>(held->number(0)) : s.op().number("default_float", -0.0f));
  else
    values.integers.push_back(given ? held->integer(0) : s.op().integer("default_int64", -1));
}

value_id constant_of(speller& s, const number_list& list) {
  const shape_t length = {static_cast<i64>(list.size())};
  return list.real ? s.floats(length, list.floats) : s.integers(list.integers);
}

/// Refuses keys that stand for several values: runtimes differ in which one counts.
void require_one_value(const speller& s, const number_list& keys, const number_list& values) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    if (!keys.real) return keys.integers[a] < keys.integers[b];
    const float x = keys.floats[a], y = keys.floats[b];
    return std::isnan(x) ? false : std::isnan(y) || x < y;
  };
  std::sort(order.begin(), order.end(), before);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (keys.same(order[i - 1], order[i]) && !values.same(order[i - 1], order[i]))
      s.refuse("a key stands for two values, of which runtimes take the first or the last. Remove one");
}

/// Positions of keys that follow each other from `first` on, without a table of comparisons; the number of keys for
/// what is none.
value_id position_in_range(speller& s, value_id x, i64 first, i64 count) {
  const value_id low = s.integer(first), high = s.integer(first + count - 1);
  const value_id within = s.add("And", {s.add("GreaterOrEqual", {x, low}), s.add("LessOrEqual", {x, high})});
  return s.add("Where", {within, s.add("Sub", {x, low}), s.integer(count)});
}

/// Positions of keys: the largest of 1 for a key that is equal, and of a half behind the last key.
value_id position_of(speller& s, value_id x, number_list keys) {
  const std::size_t count = keys.size();
  const i64 rank = static_cast<i64>(s.of(s.in(0)).shape.size());
  std::vector<float> found(count, 1.0f), missed(count, 0.0f);
  found.push_back(0.5f);
  missed.push_back(0.5f);
  std::vector<i64> is_nan;
  for (const float key : keys.floats) is_nan.push_back(std::isnan(key) ? 1 : 0);
  is_nan.push_back(0);
  if (keys.real)
    keys.floats.push_back(0);
  else
    keys.integers.push_back(0);
  const value_id column = s.add("Unsqueeze", {x, s.integers({rank})});
  value_id equal = s.add("Equal", {column, constant_of(s, keys)});
  const shape_t length = {static_cast<i64>(count) + 1};
  if (std::count(is_nan.begin(), is_nan.end(), 1) != 0) {
    array flags(element::boolean, length);
    for (std::size_t i = 0; i < is_nan.size(); ++i) flags.set_integer(static_cast<i64>(i), is_nan[i]);
    equal = s.add("Or", {equal, s.add("And", {s.add("IsNaN", {column}), s.keep(flags)})});
  }
  const value_id score = s.add("Where", {equal, s.floats(length, found), s.floats(length, missed)});
  return s.add("ArgMax", {score}, {{"axis", rank}, {"keepdims", i64{0}}});
}

bool is_range(const number_list& keys) {
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys.real || keys.integers[0] > (i64{1} << 60) || keys.integers[i] != keys.integers[0] + static_cast<i64>(i))
      return false;
  return !keys.real && keys.size() > 1;
}

void label_encoder(speller& s) {
  const value_id given = s.in(0);
  const number_list keys = list_of(s, "keys");
  number_list values = list_of(s, "values");
  if (keys.size() == 0 || keys.size() != values.size()) s.refuse("it needs as many values as keys, and one at least");
  if (keys.real != is_float(s.of(given).type)) s.refuse("its input is not of the type of its keys");
  const bool has_nan = std::any_of(keys.floats.begin(), keys.floats.end(), [](float k) { return std::isnan(k); });
  if (has_nan && s.op().version < 4) s.refuse("a key is NaN, which runtimes compare since version 4 of its domain");
  require_one_value(s, keys, values);
  add_default(s, values);
  const value_id x = cast_to(s, given, keys.real ? element::f32 : element::i64);
  const value_id position = is_range(keys) ? position_in_range(s, x, keys.integers[0], static_cast<i64>(keys.size()))
                                           : position_of(s, x, keys);
  s.give(0, "Gather", {constant_of(s, values), position}, {{"axis", i64{0}}});
}

}

void add_encoder_spellings(spelling_table& t) {
  t["ai.onnx.ml.CategoryMapper"] = label_encoder;
  t["ai.onnx.ml.LabelEncoder"] = label_encoder;
}

}
