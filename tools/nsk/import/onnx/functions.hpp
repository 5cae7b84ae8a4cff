// SPDX-License-Identifier: MIT
#pragma once
/// Model-local functions.
#include "import/onnx/wire.hpp"

namespace nsk::tool {

/// Replaces every call of a model-local function, in the main graph and its subgraphs, by the function's body: its
/// values get the prefix "<call>/", attribute references get the call's values. Refuses recursion and copies of
/// more than 64 MiB.
void inline_functions(wire::model& m);

}
