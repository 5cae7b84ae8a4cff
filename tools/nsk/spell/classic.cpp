// SPDX-License-Identifier: MIT
/// Operators of ai.onnx.ml that move, encode and compare numbers. They refuse texts, which
/// resolve/shapes/class_texts.hpp has made numbers of where it can.
#include <algorithm>
#include <cmath>
#include <set>

#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

using i64 = std::int64_t;

/// Columns of X in the order of Y; a row of numbers becomes one line.
void array_feature_extractor(speller& s) {
  const value_id x = s.in(0);
  value_id y = s.in(1);
  const i64 rank = static_cast<i64>(s.of(x).shape.size());
  if (rank == 0 || !is_integer(s.of(y).type)) s.refuse("it needs a tensor with axes, and integers as positions");
  if (s.of(y).shape.size() != 1) y = s.add("Reshape", {y, s.integers({-1})});
  if (rank > 1) return s.give(0, "Gather", {x, y}, {{"axis", rank - 1}});
  s.give(0, "Unsqueeze", {s.add("Gather", {x, y}, {{"axis", i64{0}}}), s.integers({0})});
}

/// 1 where x is above the threshold, else 0.
void binarizer(speller& s) {
  const value_id x = cast_to(s, s.in(0), element::f32);
  s.give(0, "Cast", {s.add("Greater", {x, s.floats({}, {s.op().number("threshold", 0)})})}, {{"to", i64{1}}});
}

/// Numbers for what is missing: for NaN, or for one number.
void imputer(speller& s) {
  const value_id given = s.in(0);
  const shape_t shape = s.of(given).shape;
  const bool real = is_float(s.of(given).type);
  const std::vector<float> floats = numbers_of(s, "imputed_value_floats");
  const std::vector<i64> integers = s.op().integers("imputed_value_int64s");
  const std::size_t count = real ? floats.size() : integers.size();
  if (shape.empty() || shape.size() > 2 || (!real && s.of(given).type != element::i64))
    s.refuse("it needs one or two axes of float32 or int64");
  if (count != 1 && static_cast<i64>(count) != shape.back())
    s.refuse("it needs one number in place of those that are missing, or one per feature, of the type of its input");
  const shape_t length = {static_cast<i64>(count)};
  if (!real) {
    const value_id missing = s.add("Equal", {given, s.integer(s.op().integer("replaced_value_int64", 0))});
    return s.give(0, "Where", {missing, s.integers(integers), given});
  }
  const value_id x = cast_to(s, given, element::f32);
  const float replaced = s.op().number("replaced_value_float", 0);
  const value_id missing = std::isnan(replaced) ? s.add("IsNaN", {x}) : s.add("Equal", {x, s.floats({}, {replaced})});
  s.give(0, "Where", {missing, s.floats(length, floats), x});
}

/// Inputs beside each other, as float32.
void feature_vectorizer(speller& s) {
  const std::vector<i64> lengths = s.op().integers("inputdimensions");
  const std::size_t count = s.op().inputs.size();
  if (count == 0 || lengths.size() != count) s.refuse("inputdimensions needs one length per input");
  std::vector<value_id> parts;
  for (std::size_t i = 0; i < count; ++i) {
    value_id x = s.in(i);
    const shape_t shape = s.of(x).shape;
    if (shape.empty() || shape.size() > 2 || shape.back() != lengths[i])
      s.refuse("input " + std::to_string(i) + " has not the " + std::to_string(lengths[i]) +
               " features of inputdimensions. Give them their own lengths");
    x = cast_to(s, x, element::f32);
    parts.push_back(shape.size() == 2 ? x : s.add("Unsqueeze", {x, s.integers({0})}));
  }
  s.give(0, "Concat", parts, {{"axis", i64{1}}});
}

/// x without its fraction; NaN stays.
value_id truncated(speller& s, value_id x) {
  const value_id negative = s.add("Less", {x, s.floats({}, {0})});
  return s.add("Where", {negative, s.add("Ceil", {x}), s.add("Floor", {x})});
}

/// 1 at the category that an element is, 0 elsewhere; floats lose their fraction first.
void one_hot_encoder(speller& s) {
  if (s.op().integer("zeros", 1) == 0)
    s.note("'" + s.op().name + "' gives zeros for a category that it does not know, where the source stops");
  constexpr i64 exact = 1 << 24;  // every integer up to it is a float32
  const value_id given = s.in(0);
  const std::vector<i64> categories = s.op().integers("cats_int64s");
  if (!texts_of(s, "cats_strings").empty() || categories.empty())
    s.refuse("its categories are no integers, or there are none. Encode strings in the game, and pass their positions");
  if (std::set<i64>(categories.begin(), categories.end()).size() != categories.size())
    s.refuse("it has a category twice");
  const bool real = is_float(s.of(given).type);
  const shape_t length = {static_cast<i64>(categories.size())};
  value_id x = cast_to(s, given, real ? element::f32 : element::i64), known;
  if (real) {
    if (std::any_of(categories.begin(), categories.end(), [](i64 k) { return k > exact || k < -exact; }))
      s.refuse("its categories are beyond 2^24, and its input is of floats. Pass int64");
    x = truncated(s, x);
    known = s.floats(length, std::vector<float>(categories.begin(), categories.end()));
  } else {
    known = s.integers(categories);
  }
  const i64 rank = static_cast<i64>(s.of(given).shape.size());
  const value_id column = s.add("Unsqueeze", {x, s.integers({rank})});
  s.give(0, "Cast", {s.add("Equal", {column, known})}, {{"to", i64{1}}});
}

/// Distances of each row of one tensor from each of another, of differences: products would cancel.
void distances(speller& s) {
  const value_id a = s.in(0), b = s.in(1);
  const std::string metric = s.op().text("metric", "sqeuclidean");
  if (s.of(a).shape.size() != 2 || s.of(b).shape.size() != 2) s.refuse("it needs two tensors of rows");
  if (metric != "sqeuclidean" && metric != "euclidean") s.refuse("metric '" + metric + "' is not supported");
  const value_id away =
      s.add("Sub", {s.add("Unsqueeze", {a, s.integers({1})}), s.add("Unsqueeze", {b, s.integers({0})})});
  const value_id last = s.integers({2});
  const speller::attributes drops = {{"keepdims", i64{0}}};
  if (metric == "sqeuclidean") return s.give(0, "ReduceSumSquare", {away, last}, drops);
  s.give(0, "Sqrt", {s.add("ReduceSumSquare", {away, last}, drops)});
}

}

void add_classic_spellings(spelling_table& t) {
  t["ai.onnx.ml.ArrayFeatureExtractor"] = array_feature_extractor;
  t["ai.onnx.ml.Binarizer"] = binarizer;
  t["ai.onnx.ml.FeatureVectorizer"] = feature_vectorizer;
  t["ai.onnx.ml.Imputer"] = imputer;
  t["ai.onnx.ml.OneHotEncoder"] = one_hot_encoder;
  t["com.microsoft.CDist"] = distances;
}

}
