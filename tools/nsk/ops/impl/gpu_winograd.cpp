// SPDX-License-Identifier: MIT
#include "ops/impl/gpu_winograd.hpp"
#include <algorithm>
#include <netsuke/gpu/impl/lower_winograd.hpp>

namespace nsk::tool {
namespace {

/// Half of the operations that makers state, bytes of the memory, and a guess of what a barrier costs.
constexpr gpu_speed gpus[] = {{0.8e6, 88e3, 3}, {6.0e6, 560e3, 3}, {6.4e6, 360e3, 3}};
constexpr double gain_wanted = 1.1;
constexpr std::int64_t float_bytes = 4;

/// Multiply-adds of a product of matrices in whole tiles of the tiled kernel, of 64 x 32 outputs.
double product_macs(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return static_cast<double>((rows + 63) / 64 * 64 * ((columns + 31) / 32 * 32) * depth);
}

}

double gpu_microseconds(const convolution_size& c, conv_algorithm algorithm, const gpu_speed& gpu) {
  const auto dispatch = [&](double macs, std::int64_t floats) {
    return std::max(macs / gpu.macs, static_cast<double>(floats * float_bytes) / gpu.bytes);
  };
  const std::int64_t pixels = c.images * c.rows * c.columns, input = pixels * c.inputs, output = pixels * c.outputs;
  if (algorithm == conv_algorithm::direct)
    return dispatch(product_macs(pixels, c.outputs, 9 * c.inputs), input + output + 9 * c.inputs * c.outputs);
  const std::int64_t side = winograd_outputs(algorithm), points = winograd_points(algorithm),
                     cells = c.images * ((c.rows + side - 1) / side) * ((c.columns + side - 1) / side),
                     transformed = points * cells * c.inputs, products = points * cells * c.outputs;
  return dispatch(0, input + transformed) +
         dispatch(static_cast<double>(points) * product_macs(cells, c.outputs, c.inputs),
                  transformed + products + points * c.inputs * c.outputs) +
         dispatch(0, products + output) + 2 * gpu.dispatch;
}

bool winograd_pays_on_gpu(const convolution_size& c, conv_algorithm algorithm) {
  const auto length = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  const gpu::impl::winograd_sizes sizes{algorithm, length(c.rows), length(c.columns), length(c.inputs),
                                        length(c.outputs)};
  if (sizes.scratch_bytes() > gpu::plan_settings().max_winograd_bytes) return false;
  return std::all_of(std::begin(gpus), std::end(gpus), [&](const gpu_speed& gpu) {
    return gpu_microseconds(c, algorithm, gpu) * gain_wanted <= gpu_microseconds(c, conv_algorithm::direct, gpu);
  });
}

}
