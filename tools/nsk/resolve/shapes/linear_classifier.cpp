// SPDX-License-Identifier: MIT
#include "resolve/shapes/linear_classifier.hpp"

#include <string>
#include <variant>
#include <vector>

namespace nsk::tool {

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

}
