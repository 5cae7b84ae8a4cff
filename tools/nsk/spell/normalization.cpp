// SPDX-License-Identifier: MIT
/// Normalisations of ONNX Runtime: layers with a residual in front of them, and those without means.
#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

/// Returns 1 / sqrt(mean of squares + epsilon) along the last axes of `x`, or of its distance from `mean`.
value_id inverse_deviation(speller& s, value_id x, value_id axes, float epsilon) {
  const value_id squares = s.add("ReduceMean", {s.add("Mul", {x, x}), axes});
  return s.add("Reciprocal", {s.add("Sqrt", {s.add("Add", {squares, s.number(epsilon)})})});
}

/// The sum of the inputs 0 and 1 and, where there is one, of input `bias`; output 3, too.
value_id residual(speller& s, std::size_t bias) {
  value_id sum = s.add("Add", {s.in(0), s.in(1)});
  if (s.has(bias)) sum = s.add("Add", {sum, s.in(bias)});
  s.give(3, "Identity", {sum});
  return sum;
}

/// LayerNormalization along the last axis of what is added first.
void skip_layer(speller& s) {
  const float epsilon = s.op().number("epsilon", 1e-12f);
  const value_id sum = residual(s, 4), axes = s.integers({-1});
  if (s.wants(1) || s.wants(2)) {
    const value_id mean = s.add("ReduceMean", {sum, axes});
    s.give(1, "Identity", {mean});
    s.give(2, "Identity", {inverse_deviation(s, s.add("Sub", {sum, mean}), axes, epsilon)});
  }
  s.give(0, "LayerNormalization", {sum, s.in(2), s.maybe(3)}, {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}});
}

/// RMSNormalization along the last axis of what is added first.
void skip_root_mean_square(speller& s) {
  const float epsilon = s.op().number("epsilon", 1e-12f);
  const value_id sum = residual(s, 3);
  if (s.wants(1)) s.refuse("its mean is not supported");
  if (s.wants(2)) s.give(2, "Identity", {inverse_deviation(s, sum, s.integers({-1}), epsilon)});
  s.give(0, "RMSNormalization", {sum, s.in(2)}, {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}});
}

void root_mean_square(speller& s) {
  const std::int64_t axis = s.op().integer("axis", -1);
  const float epsilon = s.op().number("epsilon", 1e-5f);
  if (s.wants(1)) {
    const auto rank = static_cast<std::int64_t>(s.shape(0).size());
    std::vector<std::int64_t> axes;
    for (std::int64_t d = axis < 0 ? axis + rank : axis; d < rank; ++d) axes.push_back(d);
    s.give(1, "Identity", {inverse_deviation(s, s.in(0), s.integers(axes), epsilon)});
  }
  s.give(0, "RMSNormalization", {s.in(0), s.in(1)}, {{"axis", axis}, {"epsilon", epsilon}});
}

/// Words, their positions and segments looked up, added and normalised. The count of a row's words is its mask's sum.
void embedding(speller& s) {
  const float epsilon = s.op().number("epsilon", 1e-12f);
  if (s.op().integer("mask_index_type", 0) > 1) s.refuse("its attribute mask_index_type must be 0 or 1");
  const shape_t words = s.shape(0);
  if (words.size() != 2) s.refuse("its words must have two axes");
  value_id sum = s.add("Gather", {s.in(2), s.in(0)});
  if (s.has(8)) {
    sum = s.add("Add", {sum, s.add("Gather", {s.in(3), s.in(8)})});
  } else {
    const value_id rows = s.add("Slice", {s.in(3), s.integers({0}), s.integers({words[1]}), s.integers({0})});
    sum = s.add("Add", {sum, rows});
  }
  if (s.has(1) && s.has(4)) sum = s.add("Add", {sum, s.add("Gather", {s.in(4), s.in(1)})});
  s.give(2, "Identity", {sum});
  if (s.wants(1) && s.has(7))
    s.give(1, "ReduceSum", {s.in(7), s.integers({1})}, {{"keepdims", std::int64_t{0}}});
  else if (s.wants(1)) {
    s.give(1, "Identity", {s.keep(s.make(element::i32, {words[0]}))});
  }
  s.give(0, "LayerNormalization", {sum, s.in(5), s.in(6)}, {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}});
}

}

void add_normalization_spellings(spelling_table& t) {
  t["com.microsoft.SkipLayerNormalization"] = skip_layer;
  t["com.microsoft.SkipSimplifiedLayerNormalization"] = skip_root_mean_square;
  t["com.microsoft.SimplifiedLayerNormalization"] = root_mean_square;
  t["SimplifiedLayerNormalization"] = root_mean_square;
  t["com.microsoft.EmbedLayerNormalization"] = embedding;
}

}
