// SPDX-License-Identifier: MIT
#pragma once
/// Between textures and ports: constants of the two kernels, from the settings of image.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/port_view.hpp>
#include <netsuke/gpu/impl/draft.hpp>
#include <netsuke/gpu/impl/ports.hpp>
#include <netsuke/gpu/status.hpp>
#include <netsuke/image/impl/geometry.hpp>
#include <netsuke/simd/float_env.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Sides of textures and of tensors that are images: two of them share a word.
inline constexpr std::int32_t max_side = 65535;

/// Bits of texture_constants::flags above the order of channels (shaders/bindings.h).
inline constexpr std::uint32_t texture_blue_first = 8, texture_slanted = 16, texture_fill_beside = 32;

inline channel_order order_of(const texture_constants& c) { return static_cast<channel_order>(c.flags & 7); }

/// Sets the tensor's place and size; false where the port is no float32 image of one, with these channels.
inline bool set_image_port(texture_constants& c, const port_view& p, length_values lengths, channel_order order) {
  const tensor_view v = p.tensor().view(nullptr, lengths);
  const std::int32_t* const shape = v.shape;
  const int n = v.rank;
  if (p.type() != dtype::float32 || n < 3 || shape[n - 1] != channel_count(order)) return false;
  if (p.elements(lengths) != std::uint64_t{word(shape[n - 3])} * word(shape[n - 2]) * word(shape[n - 1])) return false;
  if (shape[n - 3] > max_side || shape[n - 2] > max_side) return false;
  c.y = static_cast<std::uint32_t>(arena_offset(p) / 4);
  c.size = pair(shape[n - 3], shape[n - 2]);
  c.flags = static_cast<std::uint32_t>(order);
  return true;
}
inline void set_scale(texture_constants& c, const channel_scale& s) {
  c.s0 = s.scale[0], c.s1 = s.scale[1], c.s2 = s.scale[2], c.s3 = s.scale[3];
  c.o0 = s.offset[0], c.o1 = s.offset[1], c.o2 = s.offset[2], c.o3 = s.offset[3];
}
/// The fill's channels, scaled as image_to_tensor scales them.
inline void set_fill(texture_constants& c, const image_settings& how) {
  float fill[4];
  for (int i = 0; i < 4; ++i)
    simd::store_partial(
        fill + i, 1,
        simd::fma(simd::splat(how.fill[i]), simd::splat(how.scale.scale[i]), simd::splat(how.scale.offset[i])));
  c.f0 = fill[0], c.f1 = fill[1], c.f2 = fill[2], c.f3 = fill[3];
}

/// Returns a number as shaders/fixed_point.h has it, modulo 2^24.
inline std::uint64_t fixed_point(double x) {
  if (!(x > -9e18 && x < 9e18)) return 0;
  std::int64_t whole = static_cast<std::int64_t>(x);
  if (static_cast<double>(whole) > x) --whole;
  const double fraction = (x - static_cast<double>(whole)) * 1099511627776.0;  // 2^40
  return (static_cast<std::uint64_t>(whole) << 40) + static_cast<std::uint64_t>(fraction + 0.5);
}
inline void set_fixed(std::uint32_t& high, std::uint32_t& low, double x) {
  const std::uint64_t bits = fixed_point(x);
  high = static_cast<std::uint32_t>(bits >> 32);
  low = static_cast<std::uint32_t>(bits);
}
/// Sets the map from a pixel's row and column to texel centres.
inline void set_map(texture_constants& c, const affine& m) {
  set_fixed(c.x0h, c.x0l, (m.xx + m.xy) * 0.5 + m.x0 - 0.5);
  set_fixed(c.xxh, c.xxl, m.xx);
  set_fixed(c.xyh, c.xyl, m.xy);
  set_fixed(c.y0h, c.y0l, (m.yx + m.yy) * 0.5 + m.y0 - 0.5);
  set_fixed(c.yxh, c.yxl, m.yx);
  set_fixed(c.yyh, c.yyl, m.yy);
}
/// Sets the part of the tensor that shows the region, by the rules of image/impl/image_to_tensor.hpp: of an upright
/// region without what is beside the texture, where that shows the fill.
inline void set_shown(texture_constants& c, const image_impl::geometry& g, const image_view& from,
                      const image_settings& how) {
  if (!g.shows) return;
  const affine& m = g.map.image_from_tensor;
  const bool upright = !(m.xy < 0) && !(m.xy > 0) && !(m.yx < 0) && !(m.yx > 0);
  const bool fills = how.edge == image_edge::fill, cut = upright && fills;
  const affine place = cut ? m : affine{0, 0, 0, 0, 0, 0};
  const std::int32_t height = static_cast<std::int32_t>(c.size & 0xffff),
                     width = static_cast<std::int32_t>(c.size >> 16);
  const image_impl::range rows =
      image_impl::shown({0, height}, g.top, g.bottom, place.yy, place.y0, cut ? from.height : 1);
  const image_impl::range columns =
      image_impl::shown({0, width}, g.left, g.right, place.xx, place.x0, cut ? from.width : 1);
  c.rows = pair(rows.begin, rows.end);
  c.columns = pair(columns.begin, columns.end);
  if (!upright) c.flags |= texture_slanted | (fills ? texture_fill_beside : 0);
}

/// Sets what samples a texture into a port, by the geometry of nsk::image_to_tensor. One without texels shows the fill.
inline status_code set_texture_input(texture_constants& c, const port_view& p, length_values lengths,
                                     std::int32_t width, std::int32_t height, const image_settings& how,
                                     bool blue_first, image_map* map) {
  if (!set_image_port(c, p, lengths, how.order)) return status_code::not_an_image;
  if (width < 0 || height < 0 || width > max_side || height > max_side) return status_code::bad_range;
  const float_environment environment;
  static constexpr std::uint8_t somewhere = 0;  // geometry wants an image that has pixels
  const image_view from{&somewhere, width, height, std::ptrdiff_t{width} * 4, pixel_format::rgba8};
  const image_impl::geometry g = image_impl::make_geometry(from, how, static_cast<std::int32_t>(c.size & 0xffff),
                                                           static_cast<std::int32_t>(c.size >> 16));
  if (map) *map = g.map;
  c.texture_size = pair(height, width);
  set_map(c, g.map.image_from_tensor);
  set_shown(c, g, from, how);
  set_scale(c, how.scale);
  set_fill(c, how);
  if (blue_first) c.flags |= texture_blue_first;
  return status_code::ok;
}
inline status_code set_texture_output(texture_constants& c, const port_view& p, length_values lengths,
                                      const tensor_settings& how, bool blue_first) {
  if (!set_image_port(c, p, lengths, how.order)) return status_code::not_an_image;
  if (how.alpha == image_alpha::keep && channel_count(how.order) != 4) return status_code::alpha_not_kept;
  set_scale(c, how.scale);
  if (blue_first) c.flags |= texture_blue_first;
  return status_code::ok;
}
/// Texels or pixels that a thread each makes.
inline std::uint64_t pixels_of(const texture_constants& c) { return std::uint64_t{c.size & 0xffff} * (c.size >> 16); }

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
