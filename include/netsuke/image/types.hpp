// SPDX-License-Identifier: MIT
#pragma once
/// Images, what to take of them, and how their levels become a tensor's numbers: the vocabulary of image.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/assert.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
/// Bytes of a pixel in the order in which they are in memory; a is alpha.
enum class pixel_format : std::uint8_t { rgba8, bgra8, rgb8, bgr8, grey8 };
/// Returns the bytes of one pixel.
constexpr int pixel_bytes(pixel_format f) {
  return f == pixel_format::grey8 ? 1 : f == pixel_format::rgb8 || f == pixel_format::bgr8 ? 3 : 4;
}

/// An image that the caller owns.
template <class Byte>
struct basic_image {
  Byte* pixels = nullptr;              ///< the first pixel of the upper row; any alignment
  std::int32_t width = 0, height = 0;  ///< in pixels, at most 2^22; an image without pixels shows the fill
  std::ptrdiff_t stride = 0;           ///< bytes from a row to the one below; negative where rows are bottom-up
  pixel_format format = pixel_format::rgba8;
};
using image_view = basic_image<const std::uint8_t>;
using writable_image = basic_image<std::uint8_t>;

/// Channels of a tensor, in order.
enum class channel_order : std::uint8_t { grey, rgb, bgr, rgba, bgra };
/// Returns the number of channels: 1, 3 or 4.
constexpr int channel_count(channel_order o) {
  return o == channel_order::grey ? 1 : o == channel_order::rgb || o == channel_order::bgr ? 3 : 4;
}

/// y = x * scale + offset for every channel of a tensor, in the tensor's order, rounded once.
struct channel_scale {
  float scale[4] = {1, 1, 1, 1}, offset[4] = {0, 0, 0, 0};

  /// Returns the same scale and offset for all channels.
  static constexpr channel_scale uniform(float scale, float offset) {
    return {{scale, scale, scale, scale}, {offset, offset, offset, offset}};
  }
  /// Return the scales from levels [0, 255] to [0, 1] and [-1, 1], and from these to levels.
  static constexpr channel_scale to_unit() { return uniform(1.0f / 255, 0); }
  static constexpr channel_scale to_symmetric() { return uniform(1 / 127.5f, -1); }
  static constexpr channel_scale from_unit() { return uniform(255, 0); }
  static constexpr channel_scale from_symmetric() { return uniform(127.5f, 127.5f); }
  /// Returns the scale from levels to (x - mean) / deviation, where x, mean and deviation count from 0 for black to
  /// `white`: 1 for means like 0.485, 255 for means like 123.7. Alpha, where there is one, goes to [0, 1].
  static constexpr channel_scale standardized(const float (&mean)[3], const float (&deviation)[3], float white = 1) {
    channel_scale s = to_unit();
    for (int c = 0; c < 3; ++c) {
      s.scale[c] = white / (255 * deviation[c]);
      s.offset[c] = -mean[c] / deviation[c];
    }
    return s;
  }
};

/// The part of an image that a tensor shows, in pixels of the image, fractions allowed. It may leave the image.
struct image_region {
  bool whole = true;  ///< the whole image; the rest is not used
  float centre_x = 0, centre_y = 0, width = 0, height = 0;
  float angle = 0;  ///< radians, clockwise on the screen: the direction of the region's x axis; below 2^20

  static constexpr image_region rectangle(float left, float top, float width, float height) {
    return {false, left + width / 2, top + height / 2, width, height, 0};
  }
  static constexpr image_region rotated(float centre_x, float centre_y, float width, float height, float angle) {
    return {false, centre_x, centre_y, width, height, angle};
  }
};

/// How a region gets into a tensor of another shape: stretched; whole, in the middle, with bars of the fill around it
/// that begin at a whole tensor pixel; or cropped around its centre until it fills the tensor.
enum class image_fit : std::uint8_t { stretch, letterbox, crop };
/// What a region shows where it leaves the image: the nearest pixel of the image, or the fill.
enum class image_edge : std::uint8_t { repeat, fill };

struct image_settings {
  image_region region{};
  image_fit fit = image_fit::stretch;
  image_edge edge = image_edge::repeat;
  bool mirrored = false;  ///< left and right of the region change places
  channel_order order = channel_order::rgb;
  channel_scale scale = channel_scale::to_unit();  ///< from levels [0, 255]
  float fill[4] = {0, 0, 0, 0};                    ///< levels of the fill, in the tensor's order; scaled like pixels
};

struct image_point {
  float x = 0, y = 0;
};
/// (x, y) becomes (xx * x + xy * y + x0, yx * x + yy * y + y0).
struct affine {
  double xx = 1, xy = 0, x0 = 0, yx = 0, yy = 1, y0 = 0;
  constexpr image_point operator()(float x, float y) const {
    return {static_cast<float>(xx * x + xy * y + x0), static_cast<float>(yx * x + yy * y + y0)};
  }
};
/// Where the pixels of a tensor are in the image, and the other way round.
struct image_map {
  affine image_from_tensor, tensor_from_image;
  constexpr image_point to_image(float x, float y) const { return image_from_tensor(x, y); }
  constexpr image_point to_tensor(float x, float y) const { return tensor_from_image(x, y); }
};

/// What becomes of an image's alpha where the tensor has none.
enum class image_alpha : std::uint8_t { opaque, keep };

struct tensor_settings {
  channel_order order = channel_order::rgb;
  channel_scale scale = channel_scale::from_unit();  ///< to levels [0, 255]
  image_alpha alpha = image_alpha::opaque;           ///< 255, or what the image held before
};
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
