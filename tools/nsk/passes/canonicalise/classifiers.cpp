// SPDX-License-Identifier: MIT
#include "passes/canonicalise/classifiers.hpp"
#include <numeric>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "reference/scores.hpp"

namespace nsk::tool::canonical {
namespace {

std::string label_key(const node& n) { return n.op == "LinearClassifier" ? "classlabels_ints" : "classlabels_int64s"; }

/// Labels of a classifier; refuses texts.
std::vector<std::int64_t> read_labels(const context& c) {
  std::vector<std::int64_t> labels = c.op().integers(label_key(c.op()));
  if (labels.empty()) c.refuse(reference::text_labels(c.source(), c.op()));
  return labels;
}

}

int float_input(context& c) {
  if (c.in_type(0) == element::f32) return c.in(0);
  const int wide = c.temporary("float", c.in_shape(0));
  c.emit(cast_params{}, {c.in(0)}, wide);
  return wide;
}

std::vector<double> number_list(const context& c, const std::string& key) {
  return reference::numbers_of(reference::call(c.source(), c.op()), key);
}

std::int64_t class_count(const context& c) {
  return reference::class_count(reference::call(c.source(), c.op()), label_key(c.op()), "classlabels_strings");
}

void label_largest(context& c, int scores) {
  if (!c.wants(0)) return;
  const std::vector<std::int64_t> labels = read_labels(c);
  const shape_t rows = c.out_shape();
  const int position = c.temporary("position", {rows[0], 1}, element::i64);
  c.emit(arg_reduce_params{1, arg_reduce_kind::max, false}, {scores}, position);
  std::vector<std::int64_t> counted(labels.size());
  std::iota(counted.begin(), counted.end(), 0);
  if (labels == counted) {
    c.emit(reshape_parameters{}, {position});
    return;
  }
  const int table = constant_integers(c, "labels", {static_cast<std::int64_t>(labels.size())}, element::i64, labels);
  c.emit(gather_parameters{0, false}, {table, reshaped(c, position, rows)});
}

void label_above(context& c, int score, double threshold) {
  if (!c.wants(0)) return;
  const std::vector<std::int64_t> labels = read_labels(c);
  const shape_t column = c.shape(score);
  const int above = c.temporary("above", column, element::boolean), label = c.temporary("label", column, element::i64);
  c.emit(compare_params{compare_kind::less}, {scalar(c, "threshold", threshold), score}, above);
  c.emit(select_params{},
         {above, constant_integers(c, "second_label", {}, element::i64, {labels[1]}),
          constant_integers(c, "first_label", {}, element::i64, {labels[0]})},
         label);
  c.emit(reshape_parameters{}, {label});
}

void transform_scores(context& c, int scores, const std::string& transform, int result) {
  if (transform == "LOGISTIC") {
    apply(c, scores, function::sigmoid, "", 0, 0, result);
  } else if (transform == "SOFTMAX") {
    c.emit(softmax_params{1, false}, {scores}, result);
  } else {
    c.emit(reshape_parameters{}, {scores}, result);
  }
}
}
