// SPDX-License-Identifier: MIT
#include "reference/scores.hpp"

#include <algorithm>
#include <cmath>

#include "graph/cures.hpp"

namespace nsk::tool::reference {
namespace {

template <class T>
const T* attribute_of(const call& c, const std::string& key, const char* what) {
  const auto found = c.op().attributes.find(key);
  if (found == c.op().attributes.end()) return nullptr;
  const auto* held = std::get_if<T>(&found->second);
  if (held == nullptr) c.fail("attribute '" + key + "' is no " + what);
  return held;
}

}

std::vector<double> numbers_of(const call& c, const std::string& key) {
  const auto* list = attribute_of<std::vector<float>>(c, key, "list of numbers");
  return list == nullptr ? std::vector<double>() : std::vector<double>(list->begin(), list->end());
}

std::vector<std::string> texts_of(const call& c, const std::string& key) {
  const auto* list = attribute_of<std::vector<std::string>>(c, key, "list of texts");
  return list == nullptr ? std::vector<std::string>() : *list;
}

std::vector<double> tensor_of(const call& c, const std::string& key) {
  const auto* held = attribute_of<array>(c, key, "tensor");
  return held == nullptr ? std::vector<double>() : held->numbers();
}

void score_sheet::add(std::int64_t target, double weight) {
  const auto [at, fresh] = m_scores.emplace(target, weight);
  if (fresh) return;
  at->second = m_aggregate == "MIN"   ? std::min(at->second, weight)
               : m_aggregate == "MAX" ? std::max(at->second, weight)
                                      : at->second + weight;
}

double score_sheet::of(std::int64_t target) const {
  const auto found = m_scores.find(target);
  const double sum = found == m_scores.end() ? 0 : found->second;
  return m_aggregate == "AVERAGE" ? sum / static_cast<double>(m_trees) : sum;
}

void require_transform(const call& c, const std::string& transform) {
  if (transform == "NONE" || transform == "LOGISTIC" || transform == "SOFTMAX") return;
  if (transform == "SOFTMAX_ZERO" || transform == "PROBIT")
    c.fail("post_transform " + transform +
           ": runtimes differ in it where a score is zero or a half. Export with post_transform NONE and compute it "
           "from the scores");
  c.fail("post_transform '" + transform + "' does not exist");
}

void transform_scores(double* scores, std::int64_t count, const std::string& transform) {
  if (transform == "LOGISTIC")
    for (std::int64_t i = 0; i < count; ++i) scores[i] = 1 / (1 + std::exp(-scores[i]));
  if (transform != "SOFTMAX") return;
  const double top = *std::max_element(scores, scores + count);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += scores[i] = std::exp(scores[i] - top);
  for (std::int64_t i = 0; i < count; ++i) scores[i] /= sum;
}

std::string text_labels(const graph& g, const node& n) {
  return "its labels are texts, which are no tensor of numbers. Export it with integer labels, or keep the scores "
         "alone: " +
         option_that_keeps(g, n, 1);
}

std::int64_t class_count(const call& c, const std::string& integers, const std::string& texts) {
  const std::size_t numbers = c.op().integers(integers).size(), words = texts_of(c, texts).size();
  if ((numbers == 0) == (words == 0)) c.fail("exactly one of " + integers + " and " + texts + " must have labels");
  return static_cast<std::int64_t>(numbers + words);
}

void declare_classes(call& c, std::int64_t rows, std::int64_t classes) {
  c.declare(0, element::i64, {rows});
  c.declare(1, element::f32, {rows, classes});
}

std::int64_t label_of(const call& c, const std::string& integers, std::int64_t position) {
  const std::vector<std::int64_t> labels = c.op().integers(integers);
  if (labels.empty() && c.op().outputs[0] != no_value) c.fail(text_labels(c.source(), c.op()));
  return labels.empty() ? position : labels[static_cast<std::size_t>(position)];
}

}
