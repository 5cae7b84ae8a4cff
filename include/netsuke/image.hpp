// SPDX-License-Identifier: MIT
#pragma once
/// Images straight from a framebuffer into a tensor, and back: region, letterbox, mirror, channel order and
/// normalisation in one pass. Not part of the umbrella netsuke.hpp: include it where images are made.
///
///     nsk::image_to_tensor(frame, net.input_info(0), net.input<float>(0));   // the whole image, as the model wants it
///
///     nsk::image_settings how = nsk::image_settings_of(net.input_info(0));   // or with what differs
///     how.fit = nsk::image_fit::letterbox;
///     const nsk::image_map map = nsk::image_to_tensor(frame, net.input_info(0), net.input<float>(0), how);
///     net.run();
///     const nsk::image_point nose = map.to_image(x, y);           // a keypoint of the network, on the screen
///
/// Coordinates are continuous, x to the right and y down, in pixels of the image or of the tensor: 0 is the left (or
/// upper) edge of the first pixel, 0.5 its centre, the width (or height) the opposite edge of the last one. A network
/// that answers in [0, 1] is multiplied by the tensor's size first.
///
/// Sampling is bilinear between the four nearest pixel centres, edges repeated; tensor pixel i takes the value at
/// (i + 0.5) * scale - 0.5. Nothing is averaged beyond that: where an image shrinks to less than half, fine
/// patterns alias. The results have the same bits on every instruction set, however the rows are shared out.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/image/of_port.hpp>
#include <netsuke/image/types.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/image/impl/image_to_tensor.hpp>
#include <netsuke/image/impl/tensor_to_image.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
/// Returns the map that image_to_tensor would use, and touches no pixel. Without an image or a region to show (no
/// pixels, a size that is not positive, numbers that are not finite or above 2^22) both maps are the identity.
inline image_map map_image(const image_view& from, const image_settings& how, std::int32_t height,
                           std::int32_t width) noexcept {
  const float_environment environment;
  return image_impl::make_geometry(from, how, height, width).map;
}

/// Samples an image into rows [row_begin, row_end) of a float32 tensor of height x width x channel_count(how.order),
/// dense, channels last, and returns the map. `to` is the whole tensor; calls with different rows may run at the same
/// time, and give the same bits as one call.
///
/// Grey tensors of coloured images take 0.299 R + 0.587 G + 0.114 B; grey images give all colours the same value;
/// alpha is 255 where the image has none. Reads nothing outside the image's pixels, uses less than 8 KiB of stack.
/// `to` must hold the tensor and not overlap the image; rows that it has no space for are left out.
inline image_map image_to_tensor(const image_view& from, const image_settings& how, span<float> to, std::int32_t height,
                                 std::int32_t width, std::int32_t row_begin, std::int32_t row_end) noexcept {
  const float_environment environment;
  const image_impl::geometry p = image_impl::make_geometry(from, how, height, width);
  if (height <= 0 || width <= 0) return p.map;
  image_impl::job j{from, how, to.data(), width, channel_count(how.order), {}};
  for (int c = 0; c < j.channels; ++c)
    simd::store_partial(
        j.filler + c, 1,
        simd::fma(simd::splat(how.fill[c]), simd::splat(how.scale.scale[c]), simd::splat(how.scale.offset[c])));
  const std::int32_t held = image_impl::rows_in(to.size(), height, std::ptrdiff_t{width} * j.channels);
  NSK_ASSERT(held == height, "image_to_tensor: the block is smaller than the tensor");
  NSK_ASSERT(row_begin >= 0 && row_end <= height, "image_to_tensor: rows outside the tensor");
  const image_impl::range all{row_begin > 0 ? row_begin : 0, row_end < held ? row_end : held};
  if (all.begin < all.end) image_impl::run(j, p, all);
  return p.map;
}
/// Samples an image into all rows of the tensor, and returns the map.
inline image_map image_to_tensor(const image_view& from, const image_settings& how, span<float> to, std::int32_t height,
                                 std::int32_t width) noexcept {
  return image_to_tensor(from, how, to, height, width, 0, height);
}
/// Samples an image into the tensor of a float32 image port, [N, H, W, C], in its size; of a batch, `to` is one row.
/// Asserts for another port, and then touches nothing. `Port` is nsk::port_view.
template <class Port>
image_map image_to_tensor(const image_view& from, const Port& port, span<float> to,
                          const image_settings& how) noexcept {
  const image_impl::port_size size = image_impl::size_of_port(port, how.order);
  NSK_ASSERT(size.height > 0, "image_to_tensor: the port is no float32 image with as many channels as how.order names");
  return image_to_tensor(from, how, to, size.height, size.width);
}
/// The whole image, stretched, with the order of colours, mean and deviation that the file has for the port.
template <class Port>
image_map image_to_tensor(const image_view& from, const Port& port, span<float> to) noexcept {
  return image_to_tensor(from, port, to, image_settings_of(port));
}

/// Writes rows [row_begin, row_end) of a float32 tensor of the image's height x width x channel_count(how.order),
/// dense, channels last, into an image: scaled, clamped to [0, 255] (NaN gives 0), rounded half to even. Colours
/// become grey, and grey colours, as above. `from` is the whole tensor; rows that it lacks are left out. Bytes between
/// the image's rows are not touched.
inline void tensor_to_image(span<const float> from, const tensor_settings& how, const writable_image& to,
                            std::int32_t row_begin, std::int32_t row_end) noexcept {
  if (to.pixels == nullptr || to.width <= 0 || to.height <= 0) return;
  const float_environment environment;
  const std::ptrdiff_t row_floats = std::ptrdiff_t{to.width} * channel_count(how.order);
  const std::int32_t held = image_impl::rows_in(from.size(), to.height, row_floats);
  NSK_ASSERT(held == to.height, "tensor_to_image: the block is smaller than the image's tensor");
  NSK_ASSERT(row_begin >= 0 && row_end <= to.height, "tensor_to_image: rows outside the image");
  const std::int32_t begin = row_begin > 0 ? row_begin : 0, end = row_end < held ? row_end : held;
  for (std::int32_t row = begin; row < end; ++row) image_impl::write_row(from.data() + row * row_floats, how, to, row);
}
/// Writes all rows of the tensor into an image.
inline void tensor_to_image(span<const float> from, const tensor_settings& how, const writable_image& to) noexcept {
  tensor_to_image(from, how, to, 0, to.height);
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
