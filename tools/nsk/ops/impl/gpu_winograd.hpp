// SPDX-License-Identifier: MIT
#pragma once
/// Where Winograd's algorithms pay on a GPU.
#include <cstdint>
#include <netsuke/format/params.hpp>

namespace nsk::tool {

/// A convolution of 3x3 with stride 1; images, rows and columns are those of its output.
struct convolution_size {
  std::int64_t images, rows, columns, inputs, outputs;
};

/// Returns the microseconds that a GPU would need at least, by its multiply-adds and bytes per microsecond. Whatever
/// passes through memory counts once when it is written and once when it is read; no cache is counted. An algorithm of
/// Winograd has two dispatches more, each with a barrier.
struct gpu_speed {
  double macs, bytes, dispatch;
};
double gpu_microseconds(const convolution_size& c, conv_algorithm algorithm, const gpu_speed& gpu);

/// Whether a variant for GPUs computes a convolution by `algorithm`, one of Winograd's, as its CPU variant does: where
/// it would be at least a tenth faster on a handheld, a console and a desktop GPU, by the bounds above, and where one
/// image fits in the scratch that plans have.
bool winograd_pays_on_gpu(const convolution_size& c, conv_algorithm algorithm);

}
