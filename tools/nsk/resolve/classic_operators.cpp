// SPDX-License-Identifier: MIT
#include "resolve/classic_operators.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace nsk::tool {
namespace {

using i64 = std::int64_t;

/// Columns of X in the order of Y; a row of numbers becomes one line.
void array_feature_extractor(spelling& s) {
  const value_id x = s.input(0);
  value_id y = s.input(1);
  const i64 rank = static_cast<i64>(s.at(x).shape.size());
  if (rank == 0 || !is_integer(s.at(y).type)) s.fail("it needs a tensor with axes, and integers as positions");
  if (s.at(y).shape.size() != 1) y = s.add("Reshape", {y, s.integers({1}, {-1})});
  if (rank > 1) return s.result(0, "Gather", {x, y}, {{"axis", rank - 1}});
  s.result(0, "Unsqueeze", {s.add("Gather", {x, y}, {{"axis", i64{0}}}), s.integers({1}, {0})});
}

/// 1 where x is above the threshold, else 0.
void binarizer(spelling& s) {
  const value_id x = s.cast(s.input(0), element::f32);
  s.result(0, "Cast", {s.add("Greater", {x, s.floats({}, {s.op().number("threshold", 0)})})}, {{"to", i64{1}}});
}

/// Numbers for what is missing: for NaN, or for one number.
void imputer(spelling& s) {
  const value_id given = s.input(0);
  const shape_t shape = s.at(given).shape;
  const bool real = is_float(s.at(given).type);
  const std::vector<float> floats = s.numbers("imputed_value_floats");
  const std::vector<i64> integers = s.integers("imputed_value_int64s");
  const std::size_t count = real ? floats.size() : integers.size();
  if (shape.empty() || shape.size() > 2 || (!real && s.at(given).type != element::i64))
    s.fail("it needs one or two axes of float32 or int64");
  if (count != 1 && static_cast<i64>(count) != shape.back())
    s.fail("it needs one number in place of those that are missing, or one per feature, of the type of its input");
  const shape_t length = {static_cast<i64>(count)};
  if (!real) {
    const value_id missing = s.add("Equal", {given, s.integers({}, {s.op().integer("replaced_value_int64", 0)})});
    return s.result(0, "Where", {missing, s.integers(length, integers), given});
  }
  const value_id x = s.cast(given, element::f32);
  const float replaced = s.op().number("replaced_value_float", 0);
  const value_id missing = std::isnan(replaced) ? s.add("IsNaN", {x}) : s.add("Equal", {x, s.floats({}, {replaced})});
  s.result(0, "Where", {missing, s.floats(length, floats), x});
}

/// Inputs beside each other, as float32.
void feature_vectorizer(spelling& s) {
  const std::vector<i64> lengths = s.integers("inputdimensions");
  const std::size_t count = s.op().inputs.size();
  if (count == 0 || lengths.size() != count) s.fail("inputdimensions needs one length per input");
  std::vector<value_id> parts;
  for (std::size_t i = 0; i < count; ++i) {
    value_id x = s.input(i);
    const shape_t shape = s.at(x).shape;
    if (shape.empty() || shape.size() > 2 || shape.back() != lengths[i])
      s.fail("input " + std::to_string(i) + " has not the " + std::to_string(lengths[i]) +
             " features of inputdimensions. Give them their own lengths");
    x = s.cast(x, element::f32);
    parts.push_back(shape.size() == 2 ? x : s.add("Unsqueeze", {x, s.integers({1}, {0})}));
  }
  s.result(0, "Concat", parts, {{"axis", i64{1}}});
}

/// x without its fraction; NaN stays.
value_id truncated(spelling& s, value_id x) {
  const value_id negative = s.add("Less", {x, s.floats({}, {0})});
  return s.add("Where", {negative, s.add("Ceil", {x}), s.add("Floor", {x})});
}

/// 1 at the category that an element is, 0 elsewhere; floats lose their fraction first.
void one_hot_encoder(spelling& s) {
  constexpr i64 exact = 1 << 24;  // every integer up to it is a float32
  const value_id given = s.input(0);
  const std::vector<i64> categories = s.integers("cats_int64s");
  if (!s.texts("cats_strings").empty() || categories.empty())
    s.fail("its categories are no integers, or there are none. Encode strings in the game, and pass their positions");
  if (std::set<i64>(categories.begin(), categories.end()).size() != categories.size())
    s.fail("it has a category twice");
  const bool real = is_float(s.at(given).type);
  const shape_t length = {static_cast<i64>(categories.size())};
  value_id x = s.cast(given, real ? element::f32 : element::i64), known;
  if (real) {
    if (std::any_of(categories.begin(), categories.end(), [](i64 k) { return k > exact || k < -exact; }))
      s.fail("its categories are beyond 2^24, and its input is of floats. Pass int64");
    x = truncated(s, x);
    known = s.floats(length, std::vector<float>(categories.begin(), categories.end()));
  } else {
    known = s.integers(length, categories);
  }
  const i64 rank = static_cast<i64>(s.at(given).shape.size());
  const value_id column = s.add("Unsqueeze", {x, s.integers({1}, {rank})});
  s.result(0, "Cast", {s.add("Equal", {column, known})}, {{"to", i64{1}}});
}

/// Distances of each row of one tensor from each of another, of differences: products would cancel.
void distances(spelling& s) {
  const value_id a = s.input(0), b = s.input(1);
  const std::string metric = s.op().text("metric", "sqeuclidean");
  if (s.at(a).shape.size() != 2 || s.at(b).shape.size() != 2) s.fail("it needs two tensors of rows");
  if (metric != "sqeuclidean" && metric != "euclidean") s.fail("metric '" + metric + "' is not supported");
  const value_id away =
      s.add("Sub", {s.add("Unsqueeze", {a, s.integers({1}, {1})}), s.add("Unsqueeze", {b, s.integers({1}, {0})})});
  const spelling::attributes last = {{"axes", std::vector<i64>{2}}, {"keepdims", i64{0}}};
  if (metric == "sqeuclidean") return s.result(0, "ReduceSumSquare", {away}, last);
  s.result(0, "Sqrt", {s.add("ReduceSumSquare", {away}, last)});
}

using rule = void (*)(spelling&);

const std::map<std::string, rule>& rules() {
  static const std::map<std::string, rule> table = {{"ai.onnx.ml.ArrayFeatureExtractor", array_feature_extractor},
                                                    {"ai.onnx.ml.Binarizer", binarizer},
                                                    {"ai.onnx.ml.CategoryMapper", spell_out_label_encoder},
                                                    {"ai.onnx.ml.FeatureVectorizer", feature_vectorizer},
                                                    {"ai.onnx.ml.Imputer", imputer},
                                                    {"ai.onnx.ml.LabelEncoder", spell_out_label_encoder},
                                                    {"ai.onnx.ml.OneHotEncoder", one_hot_encoder},
                                                    {"ai.onnx.ml.SVMClassifier", spell_out_support_vector_classifier},
                                                    {"ai.onnx.ml.SVMRegressor", spell_out_support_vector_regressor},
                                                    {"com.microsoft.CDist", distances}};
  return table;
}

/// What the runtime of the source refuses when it runs, and zeros say here.
void note_unknown_categories(graph& g, const node& n) {
  if (n.op == "OneHotEncoder" && n.integer("zeros", 1) == 0)
    g.facts.notes.push_back("'" + n.name +
                            "' gives zeros for a category that it does not know, where the source stops");
}

}

bool spell_out_classic_operator(graph& g, const node& n, node_placer& placer) {
  const auto found = rules().find(n.domain + "." + n.op);
  if (found == rules().end()) return false;
  note_unknown_categories(g, n);
  spelling s(g, n, placer);
  found->second(s);
  s.place();
  return true;
}

void complete_linear_classifier(node& n) {
  if (n.op != "LinearClassifier" || n.domain != "ai.onnx.ml") return;
  const bool scored = n.outputs.size() > 1 && n.outputs[1] != no_value;
  if (scored && n.text("post_transform", "NONE") != "LOGISTIC") return;  // runtimes differ in the other class's score
  const auto list = [&](const char* key) -> std::vector<float>* {
    const auto found = n.attributes.find(key);
    return found == n.attributes.end() ? nullptr : std::get_if<std::vector<float>>(&found->second);
  };
  std::vector<float>*const weights = list("coefficients"), *const offsets = list("intercepts");
  if (weights == nullptr || offsets == nullptr || offsets->size() != 1) return;
  if (n.integers("classlabels_ints").size() != 2) return;
  for (std::vector<float>* const numbers : {weights, offsets}) {
    const std::vector<float> second = *numbers;
    for (float& v : *numbers) v = -v;
    numbers->insert(numbers->end(), second.begin(), second.end());
  }
}

std::vector<std::string> classic_operators() {
  std::vector<std::string> names = {"ai.onnx.ml.ZipMap"};
  for (const auto& [name, spelled] : rules()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}
