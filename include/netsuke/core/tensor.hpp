// SPDX-License-Identifier: MIT
#pragma once
/// Element types, and a tensor as kernels see it: a strided view with an optional border of pixels.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
inline constexpr int max_rank = 6;

/// Element type. Values are part of the file format.
enum class dtype : std::uint8_t { float32, float16, int8, uint8, int16, int32, int64, boolean };

/// Returns the bytes of one element.
constexpr int size_of(dtype t) {
  return t == dtype::float32 || t == dtype::int32   ? 4
         : t == dtype::int64                        ? 8
         : t == dtype::float16 || t == dtype::int16 ? 2
                                                    : 1;
}

template <class T>
constexpr dtype dtype_of();
template <>
constexpr dtype dtype_of<float>() {
  return dtype::float32;
}
template <>
constexpr dtype dtype_of<std::int8_t>() {
  return dtype::int8;
}
template <>
constexpr dtype dtype_of<std::uint8_t>() {
  return dtype::uint8;
}
template <>
constexpr dtype dtype_of<std::int16_t>() {
  return dtype::int16;
}
template <>
constexpr dtype dtype_of<std::int32_t>() {
  return dtype::int32;
}
template <>
constexpr dtype dtype_of<std::int64_t>() {
  return dtype::int64;
}
template <>
constexpr dtype dtype_of<bool>() {
  return dtype::boolean;
}

/// Border of pixels around a [..., H, W, C] tensor, inside its own memory.
struct halo {
  std::uint16_t top = 0, left = 0, bottom = 0, right = 0;
};

/// A strided view. Physical order, images are [N, H, W, C]; strides count elements. Element (i0, i1, ...) lies at
/// data + (i0 * stride[0] + i1 * stride[1] + ...) * size_of(type); the border lies at negative and past-the-end indices
/// of H and W.
struct tensor_view {
  std::byte* data = nullptr;
  dtype type = dtype::float32;
  std::uint8_t rank = 0;
  halo border{};
  float fill = 0;  ///< value of the border
  std::int32_t shape[max_rank] = {};
  std::ptrdiff_t stride[max_rank] = {};

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  /// Length of the dimension that is `from_last` before the last one; 1 where the tensor has no such dimension.
  int length(int from_last) const { return from_last < rank ? shape[rank - 1 - from_last] : 1; }
  std::ptrdiff_t step(int from_last) const { return from_last < rank ? stride[rank - 1 - from_last] : 0; }
};

/// The part of an output that one tile computes. The output is seen as [rows, pixels, channels]: channels is its last
/// dimension, pixels the one before, rows all others flattened. Border pixels are filled by the tile that computes the
/// element next to them.
struct tile_range {
  std::int32_t row_begin, row_end, pixel_begin, pixel_end, channel_begin, channel_end;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
