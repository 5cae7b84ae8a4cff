// SPDX-License-Identifier: MIT
#pragma once
/// Images through the C interface: every argument is checked, then the C++ library samples or writes.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstring>
#include <limits>
#include <netsuke/c/impl/library.hpp>
#include <netsuke/c/impl/model.hpp>
#include <netsuke/c/impl/session.hpp>
#include <netsuke/image.hpp>

#if defined(NSK_C_IMPLEMENTATION)
NSK_BEGIN
namespace impl {

static_assert(static_cast<int>(pixel_format::grey8) == nsk_pixel_grey8 &&
                  static_cast<int>(channel_order::bgra) == nsk_order_bgra &&
                  static_cast<int>(image_fit::crop) == nsk_fit_crop &&
                  static_cast<int>(image_edge::fill) == nsk_edge_fill &&
                  static_cast<int>(image_alpha::keep) == nsk_alpha_keep,
              "the enumerations of netsuke/c/image.h list the values of the C++ library's");

inline constexpr std::int32_t c_max_image_length = 1 << 22;

inline bool c_is_length(std::int32_t pixels) { return pixels >= 1 && pixels <= c_max_image_length; }

/// Whether an image can be read or written; it is argument `number`.
inline nsk_status c_check_image(const nsk_image* image, std::int32_t number) {
  if (image == nullptr || image->pixels == nullptr) return c_bad_argument(number);
  if (!c_is_length(image->width) || !c_is_length(image->height)) return c_bad_argument(number);
  if (image->format < 0 || image->format > nsk_pixel_grey8) return c_bad_argument(number);
  const std::int64_t row = std::int64_t{image->width} * pixel_bytes(static_cast<pixel_format>(image->format));
  const std::int64_t maximum = std::numeric_limits<std::ptrdiff_t>::max();
  const std::int64_t stride = image->stride;
  if ((stride < row && stride > -row) || stride > maximum || stride < -maximum) return c_bad_argument(number);
  return {nsk_status_ok, -1};
}
template <class Byte>
basic_image<Byte> c_image_of(const nsk_image& image) {
  return {static_cast<Byte*>(image.pixels), image.width, image.height, static_cast<std::ptrdiff_t>(image.stride),
          static_cast<pixel_format>(image.format)};
}

/// Copies as much of a struct of the caller as both sides know; arguments `number` and the next are the struct and its
/// bytes.
template <class Struct>
nsk_status c_take(const Struct* from, std::size_t bytes, Struct& to, std::int32_t number) {
  if (from == nullptr) return c_bad_argument(number);
  if (bytes < sizeof to) return c_bad_argument(number + 1);
  to = *from;
  return {nsk_status_ok, -1};
}
/// Gives a struct to the caller; what only the caller knows becomes 0.
template <class Struct>
nsk_status c_give(const Struct& from, Struct* to, std::size_t bytes, std::int32_t number) {
  if (to == nullptr) return c_bad_argument(number);
  if (bytes < sizeof from) return c_bad_argument(number + 1);
  std::memset(static_cast<void*>(to), 0, bytes);
  std::memcpy(to, &from, sizeof from);
  return {nsk_status_ok, -1};
}

inline bool c_is_one_of(std::int32_t value, std::int32_t last) { return value >= 0 && value <= last; }

/// Settings of the caller, argument `number`, as the C++ library has them.
inline nsk_status c_image_settings(const nsk_image_settings* how, std::size_t bytes, std::int32_t number,
                                   image_settings& to) {
  nsk_image_settings from;
  if (const nsk_status s = c_take(how, bytes, from, number); s.code != 0) return s;
  const bool known = c_is_one_of(from.fit, nsk_fit_crop) && c_is_one_of(from.edge, nsk_edge_fill) &&
                     c_is_one_of(from.order, nsk_order_bgra) && c_is_one_of(from.whole, 1) &&
                     c_is_one_of(from.mirrored, 1);
  if (!known) return c_bad_argument(number);
  to.region = {from.whole != 0, from.centre_x, from.centre_y, from.width, from.height, from.angle};
  to.fit = static_cast<image_fit>(from.fit);
  to.edge = static_cast<image_edge>(from.edge);
  to.order = static_cast<channel_order>(from.order);
  to.mirrored = from.mirrored != 0;
  std::memcpy(to.scale.scale, from.scale, sizeof from.scale);
  std::memcpy(to.scale.offset, from.offset, sizeof from.offset);
  std::memcpy(to.fill, from.fill, sizeof from.fill);
  return {nsk_status_ok, -1};
}
inline nsk_image_settings c_image_settings_of(const image_settings& from) {
  nsk_image_settings to = {};
  std::memcpy(to.scale, from.scale.scale, sizeof to.scale);
  std::memcpy(to.offset, from.scale.offset, sizeof to.offset);
  std::memcpy(to.fill, from.fill, sizeof to.fill);
  to.whole = 1;
  to.fit = static_cast<std::int32_t>(from.fit);
  to.edge = static_cast<std::int32_t>(from.edge);
  to.order = static_cast<std::int32_t>(from.order);
  return to;
}

inline nsk_status c_tensor_settings(const nsk_tensor_settings* how, std::size_t bytes, std::int32_t number,
                                    tensor_settings& to) {
  nsk_tensor_settings from;
  if (const nsk_status s = c_take(how, bytes, from, number); s.code != 0) return s;
  if (!c_is_one_of(from.order, nsk_order_bgra) || !c_is_one_of(from.alpha, nsk_alpha_keep))
    return c_bad_argument(number);
  to.order = static_cast<channel_order>(from.order);
  to.alpha = static_cast<image_alpha>(from.alpha);
  std::memcpy(to.scale.scale, from.scale, sizeof from.scale);
  std::memcpy(to.scale.offset, from.offset, sizeof from.offset);
  return {nsk_status_ok, -1};
}

inline void c_put_map(const image_map& from, nsk_image_map* to) {
  if (to == nullptr) return;
  const affine &a = from.image_from_tensor, &b = from.tensor_from_image;
  *to = {{a.xx, a.xy, a.x0, a.yx, a.yy, a.y0}, {b.xx, b.xy, b.x0, b.yx, b.yy, b.y0}};
}

/// Row `row` of a port with images of this order, which is argument 1, in a whole port at `elements`.
template <class Byte>
nsk_status c_row_of_images(const port_view& port, std::int32_t number, channel_order order, std::int32_t row,
                           span<Byte> elements, image_impl::port_size& size, span<Byte>& pixels) {
  size = image_impl::size_of_port(port, order);
  if (size.height <= 0) return {nsk_status_no_image, number};
  const std::size_t bytes = static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width) *
                            static_cast<std::size_t>(channel_count(order)) * sizeof(float);
  if (row < 0 || static_cast<std::size_t>(row) >= elements.size() / bytes) return c_bad_argument(2);
  pixels = {elements.data() + static_cast<std::size_t>(row) * bytes, bytes};
  return {nsk_status_ok, -1};
}

/// Whether rows [begin, end) of a tensor with `floats` elements, of which argument `number` is their number and the two
/// behind `rows` the rows, are there.
inline nsk_status c_check_tensor(const float* tensor, std::uint64_t floats, std::uint64_t wanted, std::int32_t number) {
  if (tensor == nullptr || reinterpret_cast<std::uintptr_t>(tensor) % alignof(float) != 0)
    return c_bad_argument(number - 1);
  if (floats < wanted || !c_fits_pointer(wanted * sizeof(float))) return c_bad_argument(number);
  return {nsk_status_ok, -1};
}
inline nsk_status c_check_rows(std::int32_t begin, std::int32_t end, std::int32_t height, std::int32_t number) {
  if (begin < 0 || begin > height) return c_bad_argument(number);
  if (end < begin || end > height) return c_bad_argument(number + 1);
  return {nsk_status_ok, -1};
}
inline std::uint64_t c_floats_of(std::int32_t height, std::int32_t width, channel_order order) {
  return static_cast<std::uint64_t>(height) * static_cast<std::uint64_t>(width) *
         static_cast<std::uint64_t>(channel_count(order));
}

}
NSK_END

extern "C" {
nsk_status nsk_default_image_settings(nsk_image_settings* how, size_t how_bytes) noexcept {
  return nsk::impl::c_give(nsk::impl::c_image_settings_of({}), how, how_bytes, 0);
}
nsk_status nsk_default_tensor_settings(nsk_tensor_settings* how, size_t how_bytes) noexcept {
  const nsk::tensor_settings own;
  nsk_tensor_settings to = {};
  std::memcpy(to.scale, own.scale.scale, sizeof to.scale);
  std::memcpy(to.offset, own.scale.offset, sizeof to.offset);
  to.order = static_cast<int32_t>(own.order);
  to.alpha = static_cast<int32_t>(own.alpha);
  return nsk::impl::c_give(to, how, how_bytes, 0);
}
nsk_status nsk_model_image_settings(const nsk_model* model, int32_t variant, int32_t input, nsk_image_settings* how,
                                    size_t how_bytes) noexcept {
  if (const nsk_status s = nsk::impl::c_check_variant(model, variant); s.code != 0) return s;
  if (input < 0 || input >= model->view.input_count(variant)) return {nsk_status_no_such_port, input};
  const nsk::image_settings of_port = nsk::image_settings_of(model->view.input(input, variant));
  return nsk::impl::c_give(nsk::impl::c_image_settings_of(of_port), how, how_bytes, 3);
}

nsk_status nsk_session_write_image(nsk_session* session, int32_t input, int32_t row, const nsk_image* image,
                                   const nsk_image_settings* how, size_t how_bytes, nsk_image_map* map) noexcept {
  nsk::span<std::byte> elements, pixels;
  if (const nsk_status s = nsk::impl::c_input(session, input, elements); s.code != 0) return s;
  if (const nsk_status s = nsk::impl::c_check_image(image, 3); s.code != 0) return s;
  const nsk::port_view port = session->net.input_info(input);
  nsk::image_settings settings = nsk::image_settings_of(port);
  if (how != nullptr) {
    if (const nsk_status s = nsk::impl::c_image_settings(how, how_bytes, 4, settings); s.code != 0) return s;
  }
  nsk::image_impl::port_size size;
  if (const nsk_status s = nsk::impl::c_row_of_images(port, input, settings.order, row, elements, size, pixels);
      s.code != 0)
    return s;
  const nsk::span<float> tensor(reinterpret_cast<float*>(pixels.data()), pixels.size() / sizeof(float));
  nsk::impl::c_put_map(nsk::image_to_tensor(nsk::impl::c_image_of<const std::uint8_t>(*image), settings, tensor,
                                            size.height, size.width),
                       map);
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_read_image(const nsk_session* session, int32_t output, int32_t row,
                                  const nsk_tensor_settings* how, size_t how_bytes, const nsk_image* image) noexcept {
  nsk::span<const std::byte> elements, pixels;
  if (const nsk_status s = nsk::impl::c_output(session, output, elements); s.code != 0) return s;
  const nsk::port_view port = session->net.output_info(output);
  nsk::tensor_settings settings;
  settings.order = nsk::image_settings_of(port).order;
  if (how != nullptr) {
    if (const nsk_status s = nsk::impl::c_tensor_settings(how, how_bytes, 3, settings); s.code != 0) return s;
  }
  if (const nsk_status s = nsk::impl::c_check_image(image, 5); s.code != 0) return s;
  nsk::image_impl::port_size size;
  if (const nsk_status s = nsk::impl::c_row_of_images(port, output, settings.order, row, elements, size, pixels);
      s.code != 0)
    return s;
  if (image->width != size.width || image->height != size.height) return {nsk_status_wrong_image_size, output};
  const nsk::span<const float> tensor(reinterpret_cast<const float*>(pixels.data()), pixels.size() / sizeof(float));
  nsk::tensor_to_image(tensor, settings, nsk::impl::c_image_of<std::uint8_t>(*image));
  return {nsk_status_ok, -1};
}

nsk_status nsk_image_to_tensor(const nsk_image* image, const nsk_image_settings* how, size_t how_bytes, float* tensor,
                               uint64_t floats, int32_t height, int32_t width, int32_t row_begin, int32_t row_end,
                               nsk_image_map* map) noexcept {
  if (const nsk_status s = nsk::impl::c_check_image(image, 0); s.code != 0) return s;
  nsk::image_settings settings;
  if (const nsk_status s = nsk::impl::c_image_settings(how, how_bytes, 1, settings); s.code != 0) return s;
  if (!nsk::impl::c_is_length(height)) return nsk::impl::c_bad_argument(5);
  if (!nsk::impl::c_is_length(width)) return nsk::impl::c_bad_argument(6);
  if (const nsk_status s = nsk::impl::c_check_rows(row_begin, row_end, height, 7); s.code != 0) return s;
  const nsk::image_view from = nsk::impl::c_image_of<const std::uint8_t>(*image);
  if (row_begin == row_end) {
    nsk::impl::c_put_map(nsk::map_image(from, settings, height, width), map);
    return {nsk_status_ok, -1};
  }
  const std::uint64_t wanted = nsk::impl::c_floats_of(height, width, settings.order);
  if (const nsk_status s = nsk::impl::c_check_tensor(tensor, floats, wanted, 4); s.code != 0) return s;
  const nsk::span<float> to(tensor, static_cast<std::size_t>(wanted));
  nsk::impl::c_put_map(nsk::image_to_tensor(from, settings, to, height, width, row_begin, row_end), map);
  return {nsk_status_ok, -1};
}
nsk_status nsk_tensor_to_image(const float* tensor, uint64_t floats, const nsk_tensor_settings* how, size_t how_bytes,
                               const nsk_image* image, int32_t row_begin, int32_t row_end) noexcept {
  nsk::tensor_settings settings;
  if (const nsk_status s = nsk::impl::c_tensor_settings(how, how_bytes, 2, settings); s.code != 0) return s;
  if (const nsk_status s = nsk::impl::c_check_image(image, 4); s.code != 0) return s;
  const std::uint64_t wanted = nsk::impl::c_floats_of(image->height, image->width, settings.order);
  if (const nsk_status s = nsk::impl::c_check_tensor(tensor, floats, wanted, 1); s.code != 0) return s;
  if (const nsk_status s = nsk::impl::c_check_rows(row_begin, row_end, image->height, 5); s.code != 0) return s;
  nsk::tensor_to_image({tensor, static_cast<std::size_t>(wanted)}, settings,
                       nsk::impl::c_image_of<std::uint8_t>(*image), row_begin, row_end);
  return {nsk_status_ok, -1};
}
}
#endif
#include <netsuke/core/restore_macros.hpp>
