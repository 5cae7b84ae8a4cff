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
inline std::ptrdiff_t pixel_stride(const tensor_view& v, const std::ptrdiff_t* stride) {
  return v.rank > 1 ? stride[v.rank - 2] : 0;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
