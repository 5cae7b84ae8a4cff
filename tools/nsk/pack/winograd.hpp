// SPDX-License-Identifier: MIT
#pragma once
/// Winograd's transform of convolution weights.
#include <netsuke/format/params.hpp>

namespace nsk::tool {

/// Computes u = G g G' in double precision: `g` is one 3x3 kernel (row-major), `u` the points of `algorithm` (36 for
/// winograd4, 16 for winograd2), point i * (m + 2) + j for row i and column j. Matrices:
/// include/netsuke/kernels/impl/winograd_tile.hpp.
void winograd_transform_weights(conv_algorithm algorithm, const double* g, double* u);

}
