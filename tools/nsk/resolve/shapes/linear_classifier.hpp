// SPDX-License-Identifier: MIT
#pragma once
#include "graph/graph.hpp"

namespace nsk::tool {

/// Gives a LinearClassifier of two classes and one score the score of the other class, where that is logistic or
/// nothing reads it.
void complete_linear_classifier(node& n);

}
