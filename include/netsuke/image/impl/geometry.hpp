// SPDX-License-Identifier: MIT
#pragma once
/// The geometry of image_to_tensor: from settings to an affine map and the part of the tensor that shows the region.
/// Computed in double precision, once per call.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/image/types.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace image_impl {

/// Limit of sides and centres of regions and of sides of images: places in them fit an int32_t, whole ones a float.
inline constexpr double largest = 4194304;

struct direction {
  double cosine, sine;
};
/// Returns the direction of an angle below 2^20 in magnitude; exact for 0. Reduction to a quarter rotation in two parts
/// (Cody and Waite, "Software Manual for the Elementary Functions", 1980), then Taylor series up to r^16: relative
/// error below 1e-15.
inline direction direction_of(double angle) {
  constexpr double quarter_high = 1.57079632673412561417, quarter_low = 6.07710050650619224932e-11;
  const double turns = angle / (quarter_high + quarter_low);
  const std::int64_t quarters = static_cast<std::int64_t>(turns < 0 ? turns - 0.5 : turns + 0.5);
  const double n = static_cast<double>(quarters), r = (angle - n * quarter_high) - n * quarter_low, square = r * r;
  double sine = 1, cosine = 1;
  for (int k = 16; k > 0; k -= 2) {
    cosine = 1 - cosine * square / ((k - 1) * k);
    sine = 1 - sine * square / (k * (k + 1));
  }
  sine *= r;
  switch (quarters & 3) {
    case 0: return {cosine, sine};
    case 1: return {-sine, cosine};
    case 2: return {-cosine, -sine};
    default: return {sine, -cosine};
  }
}

/// A rectangle in the image with its own axes, in double precision.
struct oriented {
  double x, y, width, height;
  direction axis;
};

inline bool within(double x, double limit) { return x >= -limit && x <= limit; }
/// False for NaN too.
inline bool is_length(double x) { return x > 0 && x <= largest; }

/// Fills in the region in the image; false when there is nothing to show.
inline bool find_region(const image_view& from, const image_region& r, oriented& to) {
  if (from.pixels == nullptr || !is_length(from.width) || !is_length(from.height)) return false;
  if (r.whole) {
    to = {
        from.width * 0.5, from.height * 0.5, static_cast<double>(from.width), static_cast<double>(from.height), {1, 0}};
    return true;
  }
  if (!is_length(r.width) || !is_length(r.height) || !within(r.centre_x, largest) || !within(r.centre_y, largest) ||
      !within(r.angle, 1048576))
    return false;
  to = {r.centre_x, r.centre_y, r.width, r.height, direction_of(r.angle)};
  return true;
}

/// A map, and the rectangle of the tensor that shows the region, in tensor pixels.
struct geometry {
  image_map map{};
  double left = 0, top = 0, right = 0, bottom = 0;
  bool shows = false;  ///< false: the tensor is all fill
};

/// Returns where bars of half the free space begin: at a whole pixel, the lower one of two that are equally near.
inline double bar(double space) {
  const double half = space * 0.5;
  const double whole = static_cast<double>(static_cast<std::int64_t>(half));
  return half - whole > 0.5 ? whole + 1 : whole;
}

/// Returns the affine map of a matrix that turns steps along the tensor's axes into image pixels, with tensor point
/// (left, top) at (x, y).
inline affine anchored(double xx, double xy, double yx, double yy, double left, double top, double x, double y) {
  return {xx, xy, x - (xx * left + xy * top), yx, yy, y - (yx * left + yy * top)};
}

inline geometry make_geometry(const image_view& from, const image_settings& how, std::int32_t height,
                              std::int32_t width) {
  geometry p;
  oriented r;
  if (height <= 0 || width <= 0 || !find_region(from, how.region, r)) return p;
  double step_x = r.width / width, step_y = r.height / height;
  p.shows = true;
  p.right = width;
  p.bottom = height;
  if (how.fit != image_fit::stretch) {
    const bool wide = step_x > step_y, whole = how.fit == image_fit::letterbox;
    const double step = wide == whole ? step_x : step_y;
    step_x = step_y = step;
  }
  if (how.fit == image_fit::letterbox) {
    p.left = bar(width - r.width / step_x);
    p.top = bar(height - r.height / step_y);
    p.right = p.left + r.width / step_x;
    p.bottom = p.top + r.height / step_y;
  }
  // The middle of the shown rectangle is on the region's centre, whatever the fit.
  const double middle_x = (p.left + p.right) * 0.5, middle_y = (p.top + p.bottom) * 0.5;
  const double c = r.axis.cosine, s = r.axis.sine, across = how.mirrored ? -step_x : step_x;
  p.map.image_from_tensor = anchored(across * c, -step_y * s, across * s, step_y * c, middle_x, middle_y, r.x, r.y);
  p.map.tensor_from_image = anchored(c / across, s / across, -s / step_y, c / step_y, r.x, r.y, middle_x, middle_y);
  return p;
}

/// Rows or columns of the tensor.
struct range {
  std::int32_t begin, end;
};
/// Returns the part of `all` whose centres are in [low, high) and, at step * centre + start, in [0, limit).
inline range shown(range all, double low, double high, double step, double start, double limit) {
  const auto wanted = [&](std::int32_t i) {
    const double at = i + 0.5, place = step * at + start;
    return at >= low && at < high && place >= 0 && place < limit;
  };
  while (all.begin < all.end && !wanted(all.begin)) ++all.begin;
  while (all.begin < all.end && !wanted(all.end - 1)) --all.end;
  return all;
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
