// SPDX-License-Identifier: MIT
#pragma once
/// Probabilities of classes from those of pairs, of Wu, Lin and Weng, "Probability Estimates for Multi-class
/// Classification by Pairwise Coupling", 2004, the second method.
#include <vector>
#include "spell/speller.hpp"

namespace nsk::tool {

/// Returns [rows][classes] for scores [rows][pairs], which a sigmoid of a score times `a` plus `b` makes
/// probabilities. The steps are those of ONNX Runtime, which end as soon as they change little.
value_id pairwise_probabilities(speller& s, value_id scores, std::int64_t classes, const std::vector<float>& a,
                                const std::vector<float>& b);

}
