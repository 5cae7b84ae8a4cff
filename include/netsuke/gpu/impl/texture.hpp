// SPDX-License-Identifier: MIT
#pragma once
/// Between textures and ports: constants of the two kernels, from the settings of image.hpp; places of ports.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/port_view.hpp>
#include <netsuke/gpu/generated/bindings.hpp>
#include <netsuke/image/impl/geometry.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Bytes from the start of the arena to a port, and its bytes in whole words.
inline std::size_t arena_offset(const port_view& p) {
  return static_cast<std::size_t>(p.tensor().buffer_offset() + p.tensor().offset());
}
inline std::size_t copied_bytes(const port_view& p) { return (p.bytes() + 3) / 4 * 4; }

/// Sets the tensor's place and size; false where the port is no float32 image of one, with these channels.
inline bool set_image_port(texture_constants& c, const port_view& p, channel_order order) {
  const span<const std::int32_t> shape = p.shape();
  const std::size_t n = shape.size();
  if (p.type() != dtype::float32 || n < 3 || shape[n - 1] != channel_count(order)) return false;
  if (p.elements() != std::int64_t{shape[n - 3]} * shape[n - 2] * shape[n - 1]) return false;
  c.y = static_cast<std::uint32_t>(arena_offset(p) / 4);
  c.height = static_cast<std::uint32_t>(shape[n - 3]);
  c.width = static_cast<std::uint32_t>(shape[n - 2]);
  c.order = static_cast<std::uint32_t>(order);
  return true;
}
inline void set_scale(texture_constants& c, const channel_scale& s) {
  c.s0 = s.scale[0], c.s1 = s.scale[1], c.s2 = s.scale[2], c.s3 = s.scale[3];
  c.o0 = s.offset[0], c.o1 = s.offset[1], c.o2 = s.offset[2], c.o3 = s.offset[3];
}

/// The same geometry as nsk::image_to_tensor.
inline bool set_texture_input(texture_constants& c, const port_view& p, std::int32_t width, std::int32_t height,
                              const image_settings& how, bool blue_first, image_map* map) {
  if (!set_image_port(c, p, how.order)) return false;
  static constexpr std::uint8_t somewhere = 0;  // geometry wants an image that has pixels
  const image_view from{&somewhere, width, height, std::ptrdiff_t{width} * 4, pixel_format::rgba8};
  const image_impl::geometry g =
      image_impl::make_geometry(from, how, static_cast<std::int32_t>(c.height), static_cast<std::int32_t>(c.width));
  if (map) *map = g.map;
  const affine& m = g.map.image_from_tensor;
  c.xx = static_cast<float>(m.xx), c.xy = static_cast<float>(m.xy), c.x0 = static_cast<float>(m.x0);
  c.yx = static_cast<float>(m.yx), c.yy = static_cast<float>(m.yy), c.y0 = static_cast<float>(m.y0);
  c.iw = width;
  c.ih = height;
  set_scale(c, how.scale);
  float fill[4];
  for (int i = 0; i < 4; ++i) fill[i] = how.fill[i] * how.scale.scale[i] + how.scale.offset[i];
  c.f0 = fill[0], c.f1 = fill[1], c.f2 = fill[2], c.f3 = fill[3];
  if (g.shows) {
    c.left = static_cast<float>(g.left), c.right = static_cast<float>(g.right);
    c.top = static_cast<float>(g.top), c.bottom = static_cast<float>(g.bottom);
  }
  c.edge = how.edge == image_edge::fill ? 1 : 0;
  c.swap = blue_first ? 1 : 0;
  return true;
}
inline bool set_texture_output(texture_constants& c, const port_view& p, const tensor_settings& how, bool blue_first) {
  if (!set_image_port(c, p, how.order)) return false;
  set_scale(c, how.scale);
  c.swap = blue_first ? 1 : 0;
  return true;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
