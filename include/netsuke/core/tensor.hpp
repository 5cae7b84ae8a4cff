// SPDX-License-Identifier: MIT
#pragma once
/// Element types, and a tensor as kernels see it: a strided view with an optional border of pixels.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
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

namespace impl {
/// The value of the element type that T stands for, -1 where there is none.
template <class T>
inline constexpr int dtype_value = -1;
template <>
inline constexpr int dtype_value<float> = static_cast<int>(dtype::float32);
template <>
inline constexpr int dtype_value<std::int8_t> = static_cast<int>(dtype::int8);
template <>
inline constexpr int dtype_value<std::uint8_t> = static_cast<int>(dtype::uint8);
template <>
inline constexpr int dtype_value<std::int16_t> = static_cast<int>(dtype::int16);
template <>
inline constexpr int dtype_value<std::int32_t> = static_cast<int>(dtype::int32);
template <>
inline constexpr int dtype_value<std::int64_t> = static_cast<int>(dtype::int64);
template <>
inline constexpr int dtype_value<bool> = static_cast<int>(dtype::boolean);
}

/// Whether tensors have elements of type T, const or not. float16 has no type in C++.
template <class T>
inline constexpr bool is_element_type = impl::dtype_value<std::remove_const_t<T>> >= 0;

/// The sentence about a type that has none, a macro because static_assert takes nothing but literals.
#define NSK_IMPL_ELEMENT                                                                     \
  "netsuke: no tensor has elements of this type: ask for float, std::int8_t, std::uint8_t, " \
  "std::int16_t, std::int32_t, std::int64_t or bool, as port_view::type() says, or for input_bytes(i)"

/// Returns the element type that T stands for.
template <class T>
constexpr dtype dtype_of() {
  static_assert(impl::dtype_value<T> >= 0, NSK_IMPL_ELEMENT);
  return static_cast<dtype>(impl::dtype_value<T>);
}

/// Border of pixels around a [..., H, W, C] tensor, inside its own memory.
struct halo {
  std::uint16_t top = 0, left = 0, bottom = 0, right = 0;
};

/// A strided view. Physical order, images are [N, H, W, C]; strides count elements. Element (i0, i1, ...) is at
/// data + (i0 * stride[0] + i1 * stride[1] + ...) * size_of(type); the border is at negative and past-the-end indices
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
  std::ptrdiff_t stride_of(int from_last) const { return from_last < rank ? stride[rank - 1 - from_last] : 0; }
};

/// The part of an output that one tile computes. The output is seen as [rows, pixels, channels]: channels is its last
/// dimension, pixels the one before, rows all others flattened. Border pixels are filled by the tile that computes the
/// element next to them.
struct tile_range {
  std::int32_t row_begin, row_end, pixel_begin, pixel_end, channel_begin, channel_end;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
