// SPDX-License-Identifier: MIT
#pragma once
/// Which pixel ONNX's Resize picks in mode nearest.
#include <cstdint>
#include <string>

namespace nsk::tool {

/// One axis of a Resize.
struct resized_axis {
  std::int64_t in = 1, out = 1;
  float scale = 1;
  float start = 0, end = 1;  ///< region of tf_crop_and_resize
};

/// Where output pixel `i` is in the input, in single precision and in the order of operations of ONNX Runtime and
/// OpenVINO. `coordinates` is ONNX's coordinate_transformation_mode.
float nearest_position(const std::string& coordinates, const resized_axis& a, std::int64_t i);

/// The pixel nearest to `position`, at least 0 and below a.in. `rounding` is ONNX's nearest_mode, or "simple" for
/// Upsample and Resize-10: up where the axis shrinks, else down. What is within 1e-6 of a half is a half, as in ONNX
/// Runtime.
std::int64_t nearest_pixel(const std::string& rounding, const resized_axis& a, float position);

}
