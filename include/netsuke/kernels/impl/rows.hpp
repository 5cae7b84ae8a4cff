// SPDX-License-Identifier: MIT
#pragma once
/// Outputs seen as [rows, pixels, channels]: where a row begins.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/tensor.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// Returns the offset, in elements, of row `row` (all dimensions but the last two, flattened) under strides for the
/// shape of `v`.
inline std::ptrdiff_t row_offset(const tensor_view& v, const std::ptrdiff_t* stride, int row) {
  std::ptrdiff_t offset = 0;
  for (int d = v.rank - 3; d >= 0; --d) {
    offset += (row % v.shape[d]) * stride[d];
    row /= v.shape[d];
  }
  return offset;
}
inline std::ptrdiff_t row_offset(const tensor_view& v, int row) { return row_offset(v, v.stride, row); }
/// Stride of pixels: that of the last dimension but one, 0 where there is none.
inline std::ptrdiff_t pixel_step(const tensor_view& v, const std::ptrdiff_t* stride) {
  return v.rank > 1 ? stride[v.rank - 2] : 0;
}

/// Cuts output positions [begin, end) to those whose whole window, `reach` + 1 long, is in input positions [low,
/// high).
inline void cut_inside(int& begin, int& end, int stride, int pad, int reach, int low, int high) {
  const int lowest = low + pad, highest = high - 1 - reach + pad;
  const int first = lowest <= 0 ? 0 : (lowest + stride - 1) / stride, past = highest < 0 ? 0 : highest / stride + 1;
  if (begin < first) begin = first < end ? first : end;
  if (end > past) end = past > begin ? past : begin;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
