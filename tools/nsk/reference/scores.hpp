// SPDX-License-Identifier: MIT
#pragma once
/// What trees and linear models of ai.onnx.ml have in common: attributes that are lists, scores, labels.
#include <map>
#include "reference/operators.hpp"

namespace nsk::tool::reference {

/// List attributes; empty where there is none, refused where it holds something else.
std::vector<double> numbers_of(const call& c, const std::string& key);
std::vector<std::string> texts_of(const call& c, const std::string& key);
/// Attribute that is a tensor, as doubles; empty where there is none. Refuses tensors of other types than input 0.
std::vector<double> tensor_of(const call& c, const std::string& key);

/// Scores of one row: entries of leaves per target, added up, averaged over trees, or the smallest or largest of them;
/// 0 where no leaf had one.
class score_sheet {
 public:
  score_sheet(std::string aggregate, std::size_t trees) : m_aggregate(std::move(aggregate)), m_trees(trees) {}
  void add(std::int64_t target, double weight);
  double of(std::int64_t target) const;

 private:
  std::string m_aggregate;
  std::size_t m_trees;
  std::map<std::int64_t, double> m_scores;
};

/// Refuses post-transformations whose results depend on the runtime.
void require_transform(const call& c, const std::string& transform);
/// NONE, LOGISTIC or SOFTMAX over the `count` scores of one row, in place.
void transform_scores(double* scores, std::int64_t count, const std::string& transform);

/// Number of classes that a classifier has labels for.
std::int64_t class_count(const call& c, const std::string& integers, const std::string& texts);
/// Declares labels [rows] int64 and scores [rows, classes].
void declare_classes(call& c, std::int64_t rows, std::int64_t classes);
/// Why labels that are texts are refused, and the cure.
std::string text_labels(const graph& g, const node& n);
/// Why the labels of a TreeEnsembleClassifier are refused where something reads them, and the cure; empty where
/// runtimes agree on them.
std::string label_trouble(const call& c);
/// Label of a class. Refuses texts that something reads; else their position stands for them.
std::int64_t label_of(const call& c, const std::string& integers, std::int64_t position);

}
