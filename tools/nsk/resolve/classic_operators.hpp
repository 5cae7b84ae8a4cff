// SPDX-License-Identifier: MIT
#pragma once
/// Operators of ai.onnx.ml that move, encode and compare numbers, and machines of support vectors: each is spelled by
/// standard operators.
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "spell/node_placer.hpp"
#include "resolve/spelling.hpp"

namespace nsk::tool {

/// Puts standard operators in the place of `n`, where it is one of these. Returns whether it was. Refuses texts, which
/// class_texts.hpp has made numbers of where it can.
bool spell_out_classic_operator(graph& g, const node& n, node_placer& placer);

/// Gives a LinearClassifier of two classes and one score the score of the other class, where that is logistic or
/// nobody reads it.
void complete_linear_classifier(node& n);

/// The operators, and ZipMap of class_texts.hpp, with their domain in front; sorted.
std::vector<std::string> classic_operators();

void spell_out_label_encoder(spelling& s);
void spell_out_support_vector_regressor(spelling& s);
void spell_out_support_vector_classifier(spelling& s);

}
