// SPDX-License-Identifier: MIT
#pragma once
/// What linear models and decision trees of ai.onnx.ml have in common: inputs, attributes, labels and scores.
#include <string>
#include <vector>
#include "passes/canonicalise/context.hpp"

namespace nsk::tool::canonical {

/// Input 0 as float32.
int float_input(context& c);
/// Attribute that is a list of numbers; empty where there is none.
std::vector<double> number_list(const context& c, const std::string& key);
/// Number of classes that a classifier has labels for.
std::int64_t class_count(const context& c);
/// Makes output 0, where something reads it: labels of the largest of scores [rows, classes]. Refuses labels that are
/// texts.
void label_largest(context& c, int scores);
/// label_largest() of two classes: the label of the second one where its scores [rows, 1] are above a threshold.
void label_above(context& c, int score, double threshold);
/// Makes `result` of scores: NONE, LOGISTIC or SOFTMAX of them.
void transform_scores(context& c, int scores, const std::string& transform, int result);

}
