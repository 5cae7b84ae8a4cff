// SPDX-License-Identifier: MIT
#pragma once
/// Values of which a few elements may be far larger than those beside them.
#include <set>
#include <string>
#include "program/program.hpp"

namespace nsk::tool {

/// Returns the names of the convolutions that read such values: the inputs and states of these names, and what is
/// computed of them up to an operation whose results are bounded whatever it reads, such as sigmoid, softmax, or a clip
/// within 256. Also those that read `unknown_inputs`, inputs of which nothing is said, with no layer between: what
/// a game writes there may be such values too, while behind a layer they are the network's own.
/// For a fused program: what follows an operation is part of it.
std::set<std::string> wide_convolutions(const program& p, const std::set<std::string>& wide_inputs,
                                        const std::set<std::string>& unknown_inputs);

}
