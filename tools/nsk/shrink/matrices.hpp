// SPDX-License-Identifier: MIT
#pragma once
/// Which matrices are packed in the weights of a step.
#include <cstdint>
#include <vector>
#include <netsuke/format/step_view.hpp>

namespace nsk::tool {

/// `channels` columns of `depth` rows; of Winograd's weights, `depth` is the number of input channels.
struct packed_matrix {
  std::int64_t channels, depth;
};

/// The matrices that follow each other in input 1 of a step, which is packed in panels or for Winograd's algorithms;
/// none where the step is of another kind.
std::vector<packed_matrix> matrices_of(const step_view& s);

}
