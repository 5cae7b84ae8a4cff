// SPDX-License-Identifier: MIT
#pragma once
/// Whether what was written for signals of two lengths is one network.
#include "graph/graph.hpp"

namespace nsk::tool::chunks {

/// Refuses, with the node, graphs that differ in nodes, attributes or constants: they are for signals of `a_samples`
/// and `b_samples`.
void require_same(const graph& a, const graph& b, std::int64_t a_samples, std::int64_t b_samples);

}
