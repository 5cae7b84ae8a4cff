// SPDX-License-Identifier: MIT
#pragma once
/// The engine's own transform of Winograd's weights (netsuke/kernels/product/winograd_weights.hpp), so that files hold
/// what the engine would make.
#include <cstdint>

namespace nsk::tool {

/// Transforms 3x3 kernels of `width` channels, a multiple of 8: tap t of channel c is taps[t * width + c], point p of
/// the result goes to points[p * point + c]. `rows` is 6 for F(4x4, 3x3), 4 for F(2x2, 3x3).
void transform_taps(int rows, const float* taps, std::int64_t width, float* points, std::int64_t point);

}
