// SPDX-License-Identifier: MIT
// The engine's transform of Winograd's weights, compiled for the set that every machine has. Like engine/engine_*.cpp
// it shows plain types alone: those of the library have other names here.
#define NSK_ISA_SCALAR
#include <netsuke/kernels/product/winograd_weights.hpp>

#include "pack/transform_taps.hpp"

namespace nsk::tool {

void transform_taps(int rows, const float* taps, std::int64_t width, float* points, std::int64_t point) {
  const auto transform = rows == 6 ? kernels::transform_winograd_weights<6> : kernels::transform_winograd_weights<4>;
  transform(taps, width, static_cast<int>(width), points, point);
}

}
