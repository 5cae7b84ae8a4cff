// SPDX-License-Identifier: MIT
#pragma once
/// Nodes of older opsets than the oldest that inference knows.
#include "spell/speller.hpp"

namespace nsk::tool {

/// Whether a node's operator has another meaning, or none, in its opset than inference gives it.
bool is_older(const node& n);

/// Puts the node of a known opset in its place. Refuses attributes without a meaning.
void renew(speller& s);

}
